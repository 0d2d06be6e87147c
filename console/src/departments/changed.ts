/** What is read anew after departments changed, on this screen and on others. */
export const CHANGED = [['dept'], ['dept-path'], ['dept-children'], ['dept-list'], ['dept-tree'], ['overview']];
/** After people moved, too. */
export const PEOPLE_CHANGED = [...CHANGED, ['dept-users'], ['user'], ['user-list']];

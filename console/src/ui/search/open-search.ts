import { createStore } from '../../store.ts';

/** Whether the search is open. */
export const searchOpen = createStore(false);

import { createStore } from '../../store.ts';

export const searchOpen = createStore(false);

import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { restore } from './session.ts';
import './ui/styles.css';

createRoot(document.getElementById('root') as HTMLElement).render(<App />);

// No answer is no refusal: whoever was logged in still is. So it is tried until there is one.
const again = (): Promise<void> =>
  restore().catch(() => new Promise((resolve) => setTimeout(() => resolve(again()), 2000)));
void again();

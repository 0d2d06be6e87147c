import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { restoreSession } from './session.ts';
import './ui/styles.css';

createRoot(document.getElementById('root') as HTMLElement).render(<App />);

const RETRY_INTERVAL_MS = 2000;

// Retry until the service responds: a network error does not mean that the user is logged out.
const restoreWithRetry = (): Promise<void> =>
  restoreSession().catch(
    () => new Promise((resolve) => setTimeout(() => resolve(restoreWithRetry()), RETRY_INTERVAL_MS)),
  );
void restoreWithRetry();

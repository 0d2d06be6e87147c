import { DisconnectOutlined } from '@ant-design/icons';
import { connection } from '../connection.ts';
import { useTexts } from '../language.ts';
import { useStore } from '../store.ts';
import { uiTexts } from './texts.ts';

/** The live region is always in the page: screen readers only announce what is added to an existing region. */
export function ConnectionBanner() {
  const t = useTexts(uiTexts);
  const offline = useStore(connection) === 'offline';
  return (
    <div role="status" aria-live="polite">
      {offline && (
        <p className="connection-banner">
          <DisconnectOutlined /> {t.offline}
        </p>
      )}
    </div>
  );
}

import { DisconnectOutlined } from '@ant-design/icons';
import { connection } from '../connection.ts';
import { useTexts } from '../language.ts';
import { useStore } from '../store.ts';
import { uiTexts } from './texts.ts';

/** The region is always there: what appears in it is read out. */
export function Connection() {
  const t = useTexts(uiTexts);
  const lost = useStore(connection) === 'lost';
  return (
    <div role="status" aria-live="polite">
      {lost && (
        <p className="offline">
          <DisconnectOutlined /> {t.offline}
        </p>
      )}
    </div>
  );
}

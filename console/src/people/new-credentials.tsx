import { CopyOutlined } from '@ant-design/icons';
import { Alert, App, Button } from 'antd';
import { useTexts } from '../language.ts';
import { bulkActionTexts } from './texts.ts';

export interface Credentials {
  tenantId: string;
  userName: string;
  password: string;
}

/** New passwords. They are shown once, because nobody can read them again. */
export function NewCredentials({ credentials, onClose }: { credentials: Credentials[]; onClose?: () => void }) {
  const t = useTexts(bulkActionTexts);
  const copy = useCopy();
  const format = ({ tenantId, userName, password }: Credentials) =>
    `${t.tenant}: ${tenantId}\n${t.user}: ${userName}\n${t.passwordLabel}: ${password}`;
  return (
    <>
      <Alert type="warning" showIcon title={t.shownOnce} className="margin-bottom" />
      <div className="people-credentials">
        {credentials.map(({ userName, password }) => (
          <dl key={userName}>
            <dt>{t.user}</dt>
            <dd>{userName}</dd>
            <dt>{t.passwordLabel}</dt>
            <dd>
              <code>{password}</code>
            </dd>
          </dl>
        ))}
      </div>
      <div className="form-actions">
        {credentials.length === 1 && (
          <Button icon={<CopyOutlined />} onClick={() => copy(credentials.map(({ password }) => password).join())}>
            {t.copy}
          </Button>
        )}
        <Button icon={<CopyOutlined />} onClick={() => copy(credentials.map(format).join('\n\n'))}>
          {t.copyAll}
        </Button>
        {onClose && (
          <Button type="primary" onClick={onClose}>
            {t.close}
          </Button>
        )}
      </div>
    </>
  );
}

function useCopy() {
  const { message } = App.useApp();
  const t = useTexts(bulkActionTexts);
  return async (text: string) => {
    try {
      // The Clipboard API is missing on insecure origins, such as plain HTTP in an intranet.
      if (navigator.clipboard) await navigator.clipboard.writeText(text);
      else copyWithSelection(text);
      void message.success(t.copied);
    } catch {
      void message.error(t.copyFailed);
    }
  };
}

function copyWithSelection(text: string): void {
  const textarea = document.createElement('textarea');
  textarea.value = text;
  const previousFocus = document.activeElement as HTMLElement | null;
  // Append it inside the dialog, because the dialog traps the focus.
  (previousFocus?.parentElement ?? document.body).append(textarea);
  textarea.select();
  const copied = document.execCommand('copy');
  textarea.remove();
  previousFocus?.focus();
  if (!copied) throw new Error('The browser did not copy the text.');
}

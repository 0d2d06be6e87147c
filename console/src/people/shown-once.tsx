import { CopyOutlined } from '@ant-design/icons';
import { Alert, App, Button } from 'antd';
import { useTexts } from '../language.ts';
import { taskTexts } from './texts.ts';

export interface Credentials {
  tenantId: string;
  userName: string;
  password: string;
}

/** New passwords, to be copied now: nobody can read them again. */
export function ShownOnce({ of, close }: { of: Credentials[]; close?: () => void }) {
  const t = useTexts(taskTexts);
  const copy = useCopy();
  const line = ({ tenantId, userName, password }: Credentials) =>
    `${t.tenant}: ${tenantId}\n${t.user}: ${userName}\n${t.secret}: ${password}`;
  return (
    <>
      <Alert type="warning" showIcon title={t.once} className="gap-below" />
      <div className="people-secrets">
        {of.map((one) => (
          <dl key={one.userName}>
            <dt>{t.user}</dt>
            <dd>{one.userName}</dd>
            <dt>{t.secret}</dt>
            <dd>
              <code>{one.password}</code>
            </dd>
          </dl>
        ))}
      </div>
      <div className="actions">
        {of.length === 1 && (
          <Button icon={<CopyOutlined />} onClick={() => copy(of.map(({ password }) => password).join())}>
            {t.copy}
          </Button>
        )}
        <Button icon={<CopyOutlined />} onClick={() => copy(of.map(line).join('\n\n'))}>
          {t.copyAll}
        </Button>
        {close && (
          <Button type="primary" onClick={close}>
            {t.close}
          </Button>
        )}
      </div>
    </>
  );
}

function useCopy() {
  const { message } = App.useApp();
  const t = useTexts(taskTexts);
  return async (text: string) => {
    try {
      // Browsers have it on secure origins only; within a company the console may be on plain http.
      if (navigator.clipboard) await navigator.clipboard.writeText(text);
      else copyBySelecting(text);
      void message.success(t.copied);
    } catch {
      void message.error(t.copyFailed);
    }
  };
}

function copyBySelecting(text: string): void {
  const area = document.createElement('textarea');
  area.value = text;
  const back = document.activeElement as HTMLElement | null;
  // Inside the dialog, which does not let the focus out of it.
  (back?.parentElement ?? document.body).append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  back?.focus();
  if (!copied) throw new Error('Copying was refused.');
}

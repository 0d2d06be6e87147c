import { CopyOutlined } from '@ant-design/icons';
import { Alert, Button } from 'antd';
import { useTexts } from '../../language.ts';
import { uiTexts } from '../texts.ts';
import { useCopy } from '../use-copy.ts';
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
  const { labelled } = useTexts(uiTexts);
  const format = ({ tenantId, userName, password }: Credentials) =>
    [labelled(t.tenant, tenantId), labelled(t.user, userName), labelled(t.passwordLabel, password)].join('\n');
  return (
    <>
      <Alert type="warning" showIcon title={t.shownOnce} className="margin-bottom" />
      <div className="user-credentials">
        {credentials.map(({ tenantId, userName, password }) => (
          <dl key={userName}>
            <dt>{t.tenant}</dt>
            <dd>{tenantId}</dd>
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
          <Button
            icon={<CopyOutlined />}
            onClick={() => copy(credentials.map(({ password }) => password).join(), t.copied)}
          >
            {t.copy}
          </Button>
        )}
        <Button icon={<CopyOutlined />} autoFocus onClick={() => copy(credentials.map(format).join('\n\n'), t.copied)}>
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

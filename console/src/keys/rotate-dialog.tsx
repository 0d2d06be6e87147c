import { Alert, Radio } from 'antd';
import dayjs from 'dayjs';
import { useState } from 'react';
import { api, type Key } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { formatTime } from './key-values.ts';
import { NewKey } from './new-key.tsx';
import { keyFormTexts, rotateTexts } from './texts.ts';

const GRACE_SECONDS = { hour: 3_600, day: 86_400, threeDays: 259_200, week: 604_800, now: 0 } as const;
type Grace = keyof typeof GRACE_SECONDS;

/** Generates a new key after asking how long the old one stays valid, and shows it once. */
export function RotateDialog({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
  const t = useTexts(rotateTexts);
  const f = useTexts(keyFormTexts);
  const [open, setOpen] = useState(true);
  const [grace, setGrace] = useState<Grace>('day');
  const [rotated, setRotated] = useState<{ key: string | null; oldUntil: string }>();
  const close = () => setOpen(false);
  const rotate = useApiMutation({
    mutationFn: () => api.rotateKey(apiKey.keyId, { graceSeconds: GRACE_SECONDS[grace] }),
    invalidates: affectedBy.keys,
    onSuccess: ({ key }) => {
      const seconds = GRACE_SECONDS[grace];
      setRotated({ key, oldUntil: seconds === 0 ? '' : formatTime(dayjs().add(seconds, 'second')) });
    },
  });
  if (rotated)
    return (
      <Dialog
        open={open}
        title={f.keyTitle(apiKey.keyName)}
        width={680}
        footer={null}
        mask={{ closable: false }}
        // An accidental Escape must not discard a key that cannot be shown again.
        keyboard={false}
        onCancel={close}
        afterClose={onClose}
      >
        <NewKey value={rotated.key} onClose={close}>
          <p>{rotated.oldUntil ? t.oldUntil(rotated.oldUntil) : t.oldEnded}</p>
        </NewKey>
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      title={t.title(apiKey.keyName)}
      okText={t.rotate}
      cancelText={t.cancel}
      cancelButtonProps={{ disabled: rotate.isPending }}
      confirmLoading={rotate.isPending}
      okButtonProps={{ danger: grace === 'now' }}
      onOk={() => rotate.mutate()}
      onCancel={close}
      afterClose={onClose}
    >
      <p>{t.hint}</p>
      <p id="keys-grace">{t.grace}</p>
      <Radio.Group
        value={grace}
        onChange={({ target }) => setGrace(target.value)}
        disabled={rotate.isPending}
        aria-labelledby="keys-grace"
        className="keys-grace"
      >
        {(Object.keys(GRACE_SECONDS) as Grace[]).map((value) => (
          <Radio key={value} value={value} autoFocus={value === grace}>
            {t[value]}
          </Radio>
        ))}
      </Radio.Group>
      {grace === 'now' && <Alert type="warning" showIcon title={t.nowHint} className="margin-bottom" />}
    </Dialog>
  );
}

import { useQuery } from '@tanstack/react-query';
import { App, Modal } from 'antd';
import { useRef, useState } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { useLast } from './last.ts';
import { AskBeforeLeaving } from './leaving.tsx';
import { nameOf } from './person.ts';
import { type Leaving, PersonForm } from './person-form.tsx';
import { type Credentials, ShownOnce } from './shown-once.tsx';
import { formTexts, taskTexts } from './texts.ts';

interface Props {
  /** Null: closed. */
  person: 'new' | number | null;
  /** Undefined: one's own. */
  tenantId: string | undefined;
  close: () => void;
}

/** Somebody new, or somebody's record; then, for somebody new, his password for the one time that it can be seen. */
export function PersonDialog({ person, tenantId, close }: Props) {
  const t = useTexts(formTexts);
  const task = useTexts(taskTexts);
  const { modal } = App.useApp();
  const shown = useLast(person);
  const id = typeof shown === 'number' ? shown : null;
  const [made, setMade] = useState<Credentials>();
  const leaving = useRef<Leaving>(undefined);
  const { data, error, refetch } = useQuery({
    queryKey: ['user', id, tenantId, 'form'],
    queryFn: ({ signal }) => api.readUser(id as number, { tenantId }, signal),
    enabled: person !== null && id !== null,
    // A form begins with what is true now, and stays as it is typed.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const leave = () => {
    // It cannot be called back: whoever left would not know that it was saved.
    if (leaving.current?.busy) return;
    if (made || !leaving.current?.isTyped()) return close();
    modal.confirm({
      title: t.leaveAsk,
      content: t.leaveHint,
      okText: t.leave,
      cancelText: t.stay,
      okButtonProps: { danger: true },
      onOk: () => {
        if (leaving.current?.busy) return;
        leaving.current?.discard();
        close();
      },
    });
  };
  const title = made
    ? task.newOne(made.userName)
    : id === null
      ? t.addTitle
      : t.editTitle(data ? nameOf(data.data) : '');
  return (
    <Modal
      open={person !== null}
      title={title}
      width={made ? 480 : 680}
      footer={null}
      mask={{ closable: false }}
      // Passwords that are shown once do not vanish by one press of Escape.
      keyboard={!made}
      onCancel={leave}
      afterClose={() => setMade(undefined)}
      destroyOnHidden
    >
      {made ? (
        <>
          <AskBeforeLeaving title={task.leaveSecrets} hint={task.leaveSecretsHint} />
          <ShownOnce of={[made]} close={close} />
        </>
      ) : error ? (
        <Failed error={error} retry={refetch} />
      ) : id !== null && !data ? (
        <Loading />
      ) : (
        <PersonForm
          key={id ?? 'new'}
          was={id === null ? undefined : data}
          tenantId={tenantId}
          leaving={leaving}
          cancel={leave}
          saved={(credentials) => (credentials ? setMade(credentials) : close())}
        />
      )}
    </Modal>
  );
}

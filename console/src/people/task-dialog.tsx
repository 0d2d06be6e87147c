import { Alert, Button, Form, Modal, Progress } from 'antd';
import { useTexts } from '../language.ts';
import { DepartmentSelect } from '../ui/department-select.tsx';
import { useNotices } from '../ui/notices.ts';
import { useLast } from './last.ts';
import { AskBeforeLeaving } from './leaving.tsx';
import { makePassword } from './password.ts';
import { PasswordInput } from './password-input.tsx';
import { nameOf } from './person.ts';
import { ShownOnce } from './shown-once.tsx';
import { credentialsIn, type Result, type Task, useTask } from './task.ts';
import { taskTexts } from './texts.ts';

interface Props {
  /** Null: nothing is asked. */
  task: Task | null;
  /** Those who were done with. */
  close: (done: Result[]) => void;
}

/** Disable, enable, delete, move, new password: for one or for many. Asks, works, and says for each what came of it. */
export function TaskDialog({ task, close }: Props) {
  const t = useTexts(taskTexts);
  const shown = useLast(task);
  const work = useTask();
  const finished = work.results.length > 0 && !work.busy;
  const secrets = work.results.some(({ password }) => password !== undefined);
  // Of one person there is nothing to list, unless he was refused.
  const listed = finished && (work.results.length > 1 || secrets || work.results.some(({ why }) => why !== undefined));
  const leave = () => close(work.results.filter(({ why }) => why === undefined));
  if (!shown) return null;
  const { kind, people } = shown;
  const who = people.length === 1 && people[0] ? nameOf(people[0]) : t.people(people.length);
  return (
    <Modal
      open={task !== null}
      title={t[`${kind}Title`](who)}
      footer={null}
      mask={{ closable: false }}
      closable={!work.busy}
      // Passwords that are shown once do not vanish by one press of Escape.
      keyboard={!work.busy && !secrets}
      onCancel={leave}
      afterClose={() => {
        work.forget();
        focusOn(shown.opener);
      }}
      destroyOnHidden
    >
      {work.busy ? (
        <AskBeforeLeaving
          title={t.leaveRunning}
          hint={kind === 'password' ? t.leaveResettingHint : t.leaveRunningHint}
          leave={work.stop}
        />
      ) : (
        secrets && <AskBeforeLeaving title={t.leaveSecrets} hint={t.leaveSecretsHint} leave={leave} />
      )}
      {work.busy && people.length > 1 ? (
        <Running done={work.results.length} all={people.length} stop={work.stop} />
      ) : listed ? (
        <Results kind={kind} results={work.results} close={leave} />
      ) : (
        <Ask task={shown} open={task !== null} who={who} work={work} close={close} />
      )}
    </Modal>
  );
}

/** Whom it was about may be gone: then the beginning of the screen. */
function focusOn(opener: HTMLElement | null | undefined): void {
  const there = opener?.isConnected ? opener : document.querySelector('h1');
  there?.focus({ preventScroll: true });
}

interface Asking {
  task: Task;
  /** Not while it fades out: that it was done is known, and a press of Enter would do it again. */
  open: boolean;
  who: string;
  work: ReturnType<typeof useTask>;
  close: Props['close'];
}

function Ask({ task, open, who, work, close }: Asking) {
  const t = useTexts(taskTexts);
  const notices = useNotices();
  const { kind, people } = task;
  const one = people.length === 1;
  const start = async ({ deptId, password }: { deptId?: number; password?: string }) => {
    const results = await work.start(task, {
      ...(deptId ? { deptId } : {}),
      passwordOf: () => password ?? makePassword(),
    });
    if (!results || !one || kind === 'password' || results.some(({ why }) => why !== undefined)) return;
    notices.done(t.done(t[kind], who));
    close(results);
  };
  return (
    <Form layout="vertical" onFinish={start} requiredMark={false} disabled={work.busy || !open}>
      <p className="people-hint">{kind === 'password' && !one ? t.passwordsHint : t[`${kind}Hint`]}</p>
      {!one && <Names task={task} />}
      {kind === 'move' && (
        <Form.Item name="deptId" label={t.moveTo} rules={[{ required: true, message: t.moveNeeded }]}>
          <DepartmentSelect />
        </Form.Item>
      )}
      {kind === 'password' && one && (
        <Form.Item
          name="password"
          label={t.newPassword}
          rules={[{ required: true, min: 8, message: t.tooShort }]}
          initialValue=""
        >
          <PasswordInput />
        </Form.Item>
      )}
      <div className="actions">
        <Button onClick={() => close([])}>{t.cancel}</Button>
        <Button type="primary" htmlType="submit" danger={kind === 'delete' || kind === 'disable'} loading={work.busy}>
          {t[kind]}
        </Button>
      </div>
    </Form>
  );
}

function Names({ task: { people } }: { task: Task }) {
  const t = useTexts(taskTexts);
  const names = people.slice(0, 10).map(nameOf).join('、');
  return <p className="people-names">{people.length > 10 ? `${names} ${t.more(people.length)}` : names}</p>;
}

function Running({ done, all, stop }: { done: number; all: number; stop: () => void }) {
  const t = useTexts(taskTexts);
  const text = t.running(done, all);
  return (
    <>
      <p role="status">{text}</p>
      <Progress percent={Math.round((done / all) * 100)} aria-label={text} showInfo={false} />
      <div className="actions">
        <Button onClick={stop}>{t.stop}</Button>
      </div>
    </>
  );
}

function Results({ kind, results, close }: { kind: Task['kind']; results: Result[]; close: () => void }) {
  const t = useTexts(taskTexts);
  const refused = results.filter(({ why }) => why !== undefined);
  const done = results.length - refused.length;
  const secrets = credentialsIn(results);
  return (
    <div role="status">
      {results.length > 1 && (
        <Alert
          type={refused.length === 0 ? 'success' : 'warning'}
          showIcon
          title={t.doneOf(done, results.length)}
          className="gap-below"
        />
      )}
      {kind === 'password' && secrets.length > 0 && <ShownOnce of={secrets} />}
      {refused.length > 0 && (
        <>
          <h3 className="people-refused-title">{t.refusedTitle(refused.length)}</h3>
          <ul className="people-refused" aria-label={t.refusedTitle(refused.length)}>
            {refused.map(({ user, why }) => (
              <li key={user.userId}>
                <strong>{nameOf(user)}</strong> <span>{why}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <div className="actions">
        <Button type="primary" autoFocus onClick={close}>
          {t.close}
        </Button>
      </div>
    </div>
  );
}

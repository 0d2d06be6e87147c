import { Alert, Button, Form, Progress, Radio } from 'antd';
import { useRef } from 'react';
import type { User } from '../../api.ts';
import { useListFormat, useTexts } from '../../language.ts';
import { recordWrites } from '../../writes.ts';
import { DepartmentPicker } from '../department/department-picker.tsx';
import { Dialog } from '../dialog.tsx';
import { LeaveGuard } from '../leave-guard.tsx';
import { restoreFocus } from '../restore-focus.ts';
import { useLastValue } from '../use-last-value.ts';
import { useUndo } from '../use-undo.ts';
import { generatePassword } from './generate-password.ts';
import { NewCredentials } from './new-credentials.tsx';
import { PasswordInput } from './password-input.tsx';
import { bulkActionTexts } from './texts.ts';
import { getDisplayName } from './update-user.ts';
import { type BulkAction, getCredentials, type UserResult, useBulkAction } from './use-bulk-action.ts';
import { UserMultiSelect } from './user-select.tsx';
import './user.css';

interface Props {
  /** Null while the dialog is closed. */
  action: BulkAction | null;
  /** Receives the successful results. */
  onClose: (succeeded: UserResult[]) => void;
}

/** Asks for confirmation, runs the action with a progress bar, and shows new passwords and the users for whom it failed. */
export function BulkActionDialog({ action, onClose }: Props) {
  const t = useTexts(bulkActionTexts);
  const lastAction = useLastValue(action);
  const run = useBulkAction();
  const isFinished = run.results.length > 0 && !run.isRunning;
  const hasPasswords = run.results.some(({ password }) => password !== undefined);
  // If nothing failed, a message says so and the dialog closes.
  const showResults = isFinished && (hasPasswords || run.results.some(({ error }) => error !== undefined));
  const close = () => onClose(run.results.filter(({ error }) => error === undefined));
  if (!lastAction) return null;
  const { kind, users, department } = lastAction;
  const target =
    kind === 'join' && department
      ? department.name
      : users.length === 1 && users[0]
        ? getDisplayName(users[0])
        : t.userCount(users.length);
  return (
    <Dialog
      open={action !== null}
      title={kind === 'leave' ? t.leaveTitle(target, department?.name ?? '') : t[`${kind}Title`](target)}
      footer={null}
      mask={{ closable: false }}
      closable={!run.isRunning}
      // An accidental Escape must not discard passwords that cannot be shown again.
      keyboard={!run.isRunning && !hasPasswords}
      onCancel={close}
      afterClose={() => {
        run.reset();
        restoreFocus(lastAction.opener);
      }}
      destroyOnHidden
    >
      {run.isRunning ? (
        <LeaveGuard
          title={t.leaveRunning}
          hint={kind === 'password' ? t.leaveResettingHint : t.leaveRunningHint}
          onLeave={run.stop}
        />
      ) : (
        hasPasswords && <LeaveGuard title={t.leavePasswords} hint={t.leavePasswordsHint} onLeave={close} />
      )}
      {showResults ? (
        <Results kind={kind} results={run.results} onClose={close} />
      ) : (run.isRunning || isFinished) && run.total > 1 ? (
        <RunProgress done={run.results.length} total={run.total} onStop={run.stop} />
      ) : (
        <ActionForm action={lastAction} open={action !== null} target={target} run={run} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface ActionFormProps {
  action: BulkAction;
  /** False during the closing animation, when another press of Enter must not run the action again. */
  open: boolean;
  /** The user's name or the number of users; for `join`, the name of the department. */
  target: string;
  run: ReturnType<typeof useBulkAction>;
  onClose: Props['onClose'];
}

function ActionForm({ action, open, target, run, onClose }: ActionFormProps) {
  const t = useTexts(bulkActionTexts);
  const showUndo = useUndo();
  const { kind, users, department } = action;
  const isSingle = users.length === 1;
  // The user must replace a generated password at the next login. One that the administrator typed in may stay.
  const generatedPassword = useRef('');
  const start = async ({ deptId = department?.deptId, asMain = false, joining = users, password }: ActionValues) => {
    const endRecording = recordWrites();
    const results = await run.start(
      { ...action, users: joining },
      {
        ...(deptId ? { deptId } : {}),
        asMain,
        createPassword: () => ({
          password: password ?? generatePassword(),
          mustChangePassword: password === undefined || password === generatedPassword.current,
        }),
      },
    );
    const writes = endRecording();
    if (!results || kind === 'password') return;
    const done = results.filter(({ error }) => error === undefined).length;
    if (done === 0) return;
    const name = results.length > 1 ? t.userCount(done) : joining[0] ? getDisplayName(joining[0]) : target;
    showUndo(t[`${kind}Done`](name), writes);
    if (done === results.length) onClose(results);
  };
  return (
    <Form layout="vertical" onFinish={start} requiredMark={false} disabled={run.isRunning || !open}>
      <p className="user-hint">{kind === 'password' && !isSingle ? t.passwordsHint : t[`${kind}Hint`]}</p>
      {!isSingle && kind !== 'join' && <UserNames users={users} />}
      {kind === 'join' && <JoinFields />}
      {kind === 'move' && (
        <Form.Item name="deptId" label={t.moveTo} rules={[{ required: true, message: t.moveToRequired }]}>
          <DepartmentPicker />
        </Form.Item>
      )}
      {kind === 'password' && isSingle && (
        <Form.Item
          name="password"
          label={t.newPassword}
          rules={[{ required: true, min: 8, message: t.tooShort }]}
          initialValue=""
        >
          <PasswordInput
            onGenerate={(password) => {
              generatedPassword.current = password;
            }}
          />
        </Form.Item>
      )}
      <div className="form-actions">
        <Button onClick={() => onClose([])}>{t.cancel}</Button>
        <Button
          type="primary"
          htmlType="submit"
          danger={kind === 'delete' || kind === 'disable' || kind === 'leave'}
          loading={run.isRunning}
        >
          {t[kind]}
        </Button>
      </div>
    </Form>
  );
}

/** What the fields of the actions contain. */
interface ActionValues {
  deptId?: number;
  asMain?: boolean;
  joining?: User[];
  password?: string;
}

function JoinFields() {
  const t = useTexts(bulkActionTexts);
  return (
    <>
      <Form.Item name="joining" label={t.joining} rules={[{ required: true, message: t.joiningRequired }]}>
        <UserMultiSelect />
      </Form.Item>
      <Form.Item name="asMain" label={t.joinAs} initialValue={true}>
        <Radio.Group
          options={[
            { value: true, label: t.asMain },
            { value: false, label: t.asFurther },
          ]}
        />
      </Form.Item>
    </>
  );
}

const MAX_NAMES = 10;

function UserNames({ users }: { users: User[] }) {
  const t = useTexts(bulkActionTexts);
  const formatList = useListFormat();
  const names = formatList(users.slice(0, MAX_NAMES).map(getDisplayName));
  return <p className="user-names">{users.length > MAX_NAMES ? `${names} ${t.more(users.length)}` : names}</p>;
}

function RunProgress({ done, total, onStop }: { done: number; total: number; onStop: () => void }) {
  const t = useTexts(bulkActionTexts);
  const text = t.running(done, total);
  return (
    <>
      <p role="status">{text}</p>
      <Progress percent={Math.round((done / total) * 100)} aria-label={text} showInfo={false} />
      <div className="form-actions">
        <Button onClick={onStop}>{t.stop}</Button>
      </div>
    </>
  );
}

function Results({ kind, results, onClose }: { kind: BulkAction['kind']; results: UserResult[]; onClose: () => void }) {
  const t = useTexts(bulkActionTexts);
  const failed = results.filter(({ error }) => error !== undefined);
  const done = results.length - failed.length;
  const credentials = getCredentials(results);
  return (
    <div role="status">
      {results.length > 1 && (
        <Alert
          type={failed.length === 0 ? 'success' : 'warning'}
          showIcon
          title={t.doneOf(done, results.length)}
          className="margin-bottom"
        />
      )}
      {kind === 'password' && credentials.length > 0 && <NewCredentials credentials={credentials} />}
      {failed.length > 0 && (
        <>
          <h3 className="user-failed-title">{t.failedTitle(failed.length)}</h3>
          <ul className="user-failed" aria-label={t.failedTitle(failed.length)}>
            {failed.map(({ user, error }) => (
              <li key={user.userId}>
                <strong>{getDisplayName(user)}</strong> <span>{error}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <div className="form-actions">
        <Button type="primary" autoFocus onClick={onClose}>
          {t.close}
        </Button>
      </div>
    </div>
  );
}

import { Button, Modal } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { api, type Dept } from '../api.ts';
import { ApiRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useAction } from '../ui/action.ts';
import { CHANGED } from './changed.ts';
import { HasChildren } from './remove-branch.tsx';
import { HasPeople } from './remove-people.tsx';
import { Blocked, type Obstacle } from './remove-some.tsx';
import { departmentsTexts } from './texts.ts';
import type { DialogProps } from './use-dialog.ts';

interface Props extends DialogProps {
  depts: Dept[];
  removed: (depts: Dept[]) => void;
  /** To where the children of one are shown. */
  show: (id: number) => void;
}

/** What a refusal leads to; each has its way onward. */
type Stage =
  | { kind: 'ask' }
  | { kind: 'children' }
  | { kind: 'people'; below: boolean }
  | { kind: 'some'; obstacle: Obstacle };

const SHOWN = 10;

export function RemoveDialog({ depts: wanted, removed, show, open, close, gone }: Props) {
  const t = useTexts(departmentsTexts);
  const [depts, setDepts] = useState(wanted);
  const [stage, setStage] = useState<Stage>({ kind: 'ask' });
  const only = depts.length === 1 ? depts[0] : undefined;
  const moving = useRef<AbortController>(undefined);
  // Here: what is in a dialog is not drawn again while it fades out, and by then all might be moved, and it deleted.
  useEffect(() => {
    if (!open) moving.current?.abort();
    return () => moving.current?.abort();
  }, [open]);
  const remove = useAction({
    run: ({ depts, subtree }: { depts: Dept[]; subtree: boolean }) =>
      api.deleteDepartments(
        depts.map(({ deptId }) => deptId),
        subtree ? { subtree } : {},
      ),
    done: (_, { depts, subtree }) => t.removed(subtree ? 1 : depts.length),
    changes: CHANGED,
    after: (_, { depts }) => {
      close();
      removed(depts);
    },
    refused: (error, { depts, subtree }) => {
      if (!(error instanceof ApiRefusal)) return false;
      const { reason } = error;
      if (reason !== 'DEPT_HAS_CHILDREN' && reason !== 'DEPT_HAS_USERS') return false;
      if (depts.length > 1) {
        const ids = new Set((error.data.deptIds as number[]).map(Number));
        setStage({ kind: 'some', obstacle: { reason, message: error.message, ids } });
      } else setStage(reason === 'DEPT_HAS_CHILDREN' ? { kind: 'children' } : { kind: 'people', below: subtree });
      return true;
    },
  });
  // What is being deleted cannot be called back. People on their way out can: that is stopped by leaving.
  const leave = () => remove.busy || close();
  const start = (depts: Dept[], subtree = false) => remove.start({ depts, subtree });
  const showBelow = (id: number) => {
    close();
    show(id);
  };
  const title = () => {
    if (stage.kind === 'ask' || !only) return only ? t.removeTitle(only.deptName) : t.removeManyTitle(depts.length);
    return t.cannotRemove(only.deptName);
  };
  return (
    <Modal open={open} title={title()} onCancel={leave} afterClose={gone} footer={null} width={560}>
      {stage.kind === 'ask' && (
        <>
          {only ? <p>{t.removeHint}</p> : <Names depts={depts} />}
          <div className="actions">
            <Button onClick={leave} disabled={remove.busy}>
              {t.cancel}
            </Button>
            <Button danger type="primary" autoFocus loading={remove.busy} onClick={() => start(depts)}>
              {t.remove}
            </Button>
          </div>
        </>
      )}
      {stage.kind === 'children' && only && (
        <HasChildren
          dept={only}
          busy={remove.busy}
          cancel={leave}
          show={showBelow}
          remove={() => start([only], true)}
        />
      )}
      {stage.kind === 'people' && only && (
        <HasPeople
          dept={only}
          below={stage.below}
          busy={remove.busy}
          moving={moving}
          cancel={leave}
          moved={() => start([only], stage.below)}
        />
      )}
      {stage.kind === 'some' && (
        <Blocked
          depts={depts}
          obstacle={stage.obstacle}
          busy={remove.busy}
          cancel={leave}
          show={showBelow}
          removeOthers={start}
          movePeople={(dept) => {
            setDepts([dept]);
            setStage({ kind: 'people', below: false });
          }}
        />
      )}
    </Modal>
  );
}

function Names({ depts }: { depts: Dept[] }) {
  const t = useTexts(departmentsTexts);
  return (
    <ul>
      {depts.slice(0, SHOWN).map(({ deptId, deptName }) => (
        <li key={deptId}>{deptName}</li>
      ))}
      {depts.length > SHOWN && <li>{t.andMore(depts.length - SHOWN)}</li>}
    </ul>
  );
}

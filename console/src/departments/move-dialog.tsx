import { useQuery } from '@tanstack/react-query';
import { Checkbox, Form, Modal, Select } from 'antd';
import { useState } from 'react';
import { api, type Child, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { useAction } from '../ui/action.ts';
import { CHANGED } from './changed.ts';
import { Picker } from './picker.tsx';
import { moveBelow, putBeside, whyNotBelow } from './placing.ts';
import { departmentsTexts } from './texts.ts';
import { TOP } from './tree-store.ts';
import type { DialogProps } from './use-dialog.ts';

interface Props extends DialogProps {
  dept: Dept;
  moved: (parents: number[]) => void;
}

const MOST = 200;

/** All that dragging does, for who has no mouse: another parent, and the place among its children. */
export function MoveDialog({ dept, moved, open, close, gone }: Props) {
  const t = useTexts(departmentsTexts);
  const [chosen, setChosen] = useState<Child>();
  const [toTop, setToTop] = useState(false);
  const [place, setPlace] = useState('order');
  const parentId = toTop ? TOP : chosen?.deptId;
  const siblings = useSiblings(parentId, dept.deptId);
  const seen = siblings.map(({ deptId }) => deptId);
  const move = useAction({
    run: async (to: number) => {
      if (to !== dept.parentId) await moveBelow(dept.deptId, to);
      if (place === 'first') await api.orderDepartments({ parentId: to, deptIds: [dept.deptId] });
      else if (place !== 'order') await putBeside(dept.deptId, to, { seen, where: 'after', of: Number(place) });
    },
    done: t.moved(dept.deptName),
    changes: CHANGED,
    after: (_, to) => {
      close();
      moved([dept.parentId, to]);
    },
  });
  return (
    <Modal
      open={open}
      title={t.moveTitle(dept.deptName)}
      onCancel={close}
      afterClose={gone}
      okText={t.moveIt}
      cancelText={t.cancel}
      okButtonProps={{ disabled: parentId === undefined || (parentId === dept.parentId && place === 'order') }}
      // It cannot be called back: while it is loading antd closes for nobody, and the button says so.
      cancelButtonProps={{ disabled: move.busy }}
      confirmLoading={move.busy}
      onOk={() => parentId !== undefined && move.start(parentId)}
    >
      <Form layout="vertical" component="div">
        <h3 className="departments-label">{t.moveTo}</h3>
        <Checkbox
          checked={toTop}
          onChange={(event) => {
            setToTop(event.target.checked);
            setPlace('order');
          }}
        >
          {t.moveToTop}
        </Checkbox>
        {!toTop && (
          <Picker
            label={t.moveTo}
            value={chosen}
            around={dept.deptId}
            onChange={(node) => {
              setChosen(node);
              setPlace('order');
            }}
            refusalOf={(tree, id) => whyNotBelow(tree, dept, id)}
          />
        )}
        <p role="status" className="quiet">
          {toTop ? t.moveTarget(t.moveToTop) : chosen ? t.moveTarget(chosen.deptName) : t.moveNone}
        </p>
        <Form.Item label={t.movePlace} htmlFor="departments-place">
          <Select
            id="departments-place"
            value={place}
            onChange={setPlace}
            disabled={parentId === undefined}
            options={[
              { value: 'order', label: t.placeByOrder },
              { value: 'first', label: t.placeFirst },
              ...siblings.map(({ deptId, deptName }) => ({ value: String(deptId), label: t.placeAfter(deptName) })),
            ]}
          />
        </Form.Item>
      </Form>
    </Modal>
  );
}

/** The first of them: further down one gets by the display order. */
function useSiblings(parentId: number | undefined, but: number): Child[] {
  const { data } = useQuery({
    queryKey: ['dept-children', parentId, 'siblings'],
    queryFn: ({ signal }) => api.listChildren(parentId as number, { limit: MOST }, signal),
    enabled: parentId !== undefined,
    staleTime: 0,
  });
  return data?.data.rows.filter(({ deptId }) => deptId !== but) ?? [];
}

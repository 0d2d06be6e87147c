import { useQuery } from '@tanstack/react-query';
import { Checkbox, Form, Select } from 'antd';
import { useState } from 'react';
import { api, type Child, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import { DepartmentPicker } from '../ui/department/department-picker.tsx';
import { ROOT_ID } from '../ui/department/tree-store.ts';
import { isWithin } from '../ui/department-path.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { changeParent, placeAmongSiblings, validateParent } from './move-department.ts';
import { departmentsTexts } from './texts.ts';
import type { DialogProps } from './use-dialog.ts';

interface Props extends DialogProps {
  dept: Dept;
  onMoved: (parentIds: number[]) => void;
}

const MAX_SIBLINGS = 200;

/** Does everything that dragging does, without a mouse: sets the parent and the position among the parent's children. */
export function MoveDialog({ dept, onMoved, open, onClose, onClosed }: Props) {
  const t = useTexts(departmentsTexts);
  const [selectedId, setSelectedId] = useState<number | null>(null);
  const [toTopLevel, setToTopLevel] = useState(false);
  const [position, setPosition] = useState('order');
  const parentId = toTopLevel ? ROOT_ID : (selectedId ?? undefined);
  const children = useChildren(parentId);
  const siblings = children.filter(({ deptId }) => deptId !== dept.deptId);
  const knownSiblings = siblings.map(({ deptId }) => deptId);
  const index = children.findIndex(({ deptId }) => deptId === dept.deptId);
  // The position that the department already has among the children of the selected parent.
  const present = index === 0 ? 'first' : String(children[index - 1]?.deptId);
  const isUnchanged = parentId === dept.parentId && (position === 'order' || position === present);
  const move = useApiMutation({
    mutationFn: async (to: number) => {
      if (to !== dept.parentId) await changeParent(dept.deptId, to);
      if (position === 'first') await api.orderDepartments({ parentId: to, deptIds: [dept.deptId] });
      else if (position !== 'order')
        await placeAmongSiblings(dept.deptId, to, { knownSiblings, position: 'after', referenceId: Number(position) });
    },
    successMessage: t.moved(dept.deptName),
    invalidates: affectedBy.departments,
    onSuccess: (_, to) => {
      onClose();
      onMoved([dept.parentId, to]);
    },
  });
  return (
    <Dialog
      open={open}
      title={t.moveTitle(dept.deptName)}
      onCancel={onClose}
      afterClose={onClosed}
      okText={t.moveConfirm}
      cancelText={t.cancel}
      okButtonProps={{ disabled: parentId === undefined || isUnchanged }}
      // A running request cannot be cancelled. antd keeps the dialog open while it is loading.
      cancelButtonProps={{ disabled: move.isPending }}
      confirmLoading={move.isPending}
      onOk={() => parentId !== undefined && move.mutate(parentId)}
    >
      <Form layout="vertical" component="div">
        <Form.Item label={t.moveTo} htmlFor="departments-parent">
          <DepartmentPicker
            id="departments-parent"
            value={selectedId}
            initialId={dept.deptId}
            disabled={toTopLevel}
            onChange={(deptId) => {
              setSelectedId(deptId);
              setPosition('order');
            }}
            getDisabledReason={(parent) => validateParent(dept, parent, isWithin(parent, dept.deptId))}
          />
        </Form.Item>
        <Form.Item>
          <Checkbox
            checked={toTopLevel}
            onChange={(event) => {
              setToTopLevel(event.target.checked);
              setPosition('order');
            }}
          >
            {t.moveToTopLevel}
          </Checkbox>
        </Form.Item>
        <Form.Item label={t.position} htmlFor="departments-place">
          <Select
            id="departments-place"
            value={position}
            onChange={setPosition}
            disabled={parentId === undefined}
            options={[
              { value: 'order', label: t.positionByOrder },
              { value: 'first', label: t.positionFirst },
              ...siblings.map(({ deptId, deptName }) => ({ value: String(deptId), label: t.positionAfter(deptName) })),
            ]}
          />
        </Form.Item>
      </Form>
    </Dialog>
  );
}

/** The first children only: positions further down can be reached by the order number. */
function useChildren(parentId: number | undefined): Child[] {
  const { data } = useQuery({
    queryKey: queryKeys.departments.children(parentId, 'siblings'),
    queryFn: ({ signal }) => api.listChildren(parentId as number, { limit: MAX_SIBLINGS }, signal),
    enabled: parentId !== undefined,
    staleTime: 0,
  });
  return data?.data.rows ?? [];
}

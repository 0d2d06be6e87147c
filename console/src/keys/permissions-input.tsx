import { Checkbox } from 'antd';
import { useId } from 'react';
import { useTexts } from '../language.ts';
import { type Permission, permissionTexts } from '../ui/permission-texts.ts';
import { permissionHintTexts } from './texts.ts';

type GroupName = 'organization' | 'tenants' | 'quotas' | 'files' | 'changes' | 'other';

/** The permissions that a key can have, in the order of the form. */
const GROUPS: readonly { name: GroupName; permissions: readonly Permission[] }[] = [
  { name: 'organization', permissions: ['dept:read', 'dept:write', 'user:read', 'user:write'] },
  { name: 'tenants', permissions: ['tenant:read', 'tenant:write'] },
  { name: 'quotas', permissions: ['quota:read', 'quota:use', 'quota:write'] },
  { name: 'files', permissions: ['export', 'import'] },
  { name: 'changes', permissions: ['change:read', 'change:revert', 'webhook:write', 'check'] },
];

interface Props {
  value?: Permission[];
  onChange?: (permissions: Permission[]) => void;
  /** Set by Form.Item, which focuses the element with this id if the field is invalid. */
  id?: string;
}

export function PermissionsInput({ value = [], onChange, id }: Props) {
  // A permission that is in no group must not get lost when the form is saved.
  const further = value.filter((each) => !GROUPS.some(({ permissions }) => permissions.includes(each)));
  const groups = further.length > 0 ? [...GROUPS, { name: 'other' as const, permissions: further }] : GROUPS;
  const toggle = (permission: Permission, isSelected: boolean) => {
    const others = value.filter((each) => each !== permission);
    onChange?.(isSelected ? [...others, permission] : others);
  };
  return (
    <div id={id} tabIndex={-1} className="keys-permissions">
      {groups.map((group) => (
        <PermissionGroup key={group.name} {...group} value={value} onToggle={toggle} />
      ))}
    </div>
  );
}

interface GroupProps {
  name: GroupName;
  permissions: readonly Permission[];
  value: Permission[];
  onToggle: (permission: Permission, isSelected: boolean) => void;
}

function PermissionGroup({ name, permissions, value, onToggle }: GroupProps) {
  const t = useTexts(permissionHintTexts);
  const names = useTexts(permissionTexts);
  const hints = t as unknown as Record<string, string>;
  const titleId = useId();
  return (
    <fieldset aria-labelledby={titleId} className="keys-permission-group">
      <div id={titleId} className="keys-permission-title">
        {t[name]}
      </div>
      {permissions.map((permission) => (
        <Checkbox
          key={permission}
          checked={value.includes(permission)}
          onChange={({ target }) => onToggle(permission, target.checked)}
        >
          {names[permission]} <code>{permission}</code>
          <div className="secondary">{hints[permission]}</div>
        </Checkbox>
      ))}
    </fieldset>
  );
}

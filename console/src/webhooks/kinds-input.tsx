import { Checkbox } from 'antd';
import { useId } from 'react';
import { useTexts } from '../language.ts';
import { changeTexts, getActionLabel } from '../ui/change-texts.ts';
import { webhookFormTexts } from './texts.ts';

const KINDS = {
  department: ['created', 'updated', 'moved', 'deleted', 'restored'],
  user: ['created', 'updated', 'deleted', 'restored', 'password_changed'],
  tenant: ['created', 'updated', 'moved', 'deleted', 'restored'],
  quota: ['created', 'updated'],
  notice: ['created'],
} as const;
type Resource = keyof typeof KINDS;

interface Props {
  value?: string[];
  onChange?: (kinds: string[]) => void;
  /** Set by Form.Item, which focuses the element with this id if the field is invalid. */
  id?: string;
}

/** The kinds of changes that a webhook receives: all, all of a kind of record, or single ones. */
export function KindsInput({ value = [], onChange, id }: Props) {
  const t = useTexts(webhookFormTexts);
  const all = value.includes('*');
  const toggle = (kind: string, isSelected: boolean) => {
    const others = value.filter((each) => each !== kind && !(isSelected && includes(kind, each)));
    onChange?.(isSelected ? [...others, kind] : others);
  };
  return (
    <div id={id} tabIndex={-1} className="webhooks-kinds">
      <Checkbox checked={all} onChange={({ target }) => toggle('*', target.checked)}>
        {t.all} <span className="secondary">{t.allHint}</span>
      </Checkbox>
      {(Object.keys(KINDS) as Resource[]).map((resource) => (
        <KindGroup key={resource} resource={resource} value={value} onToggle={toggle} disabled={all} />
      ))}
    </div>
  );
}

/** Whether the first kind includes the second: selecting `user.*` makes `user.created` redundant. */
const includes = (wide: string, kind: string) =>
  wide === '*' || (wide.endsWith('.*') && kind.startsWith(wide.slice(0, -1)));

interface GroupProps {
  resource: Resource;
  value: string[];
  onToggle: (kind: string, isSelected: boolean) => void;
  disabled: boolean;
}

function KindGroup({ resource, value, onToggle, disabled }: GroupProps) {
  const t = useTexts(webhookFormTexts);
  const labels = useTexts(changeTexts);
  const titleId = useId();
  const everything = `${resource}.*`;
  const hasAll = disabled || value.includes(everything);
  // Also show kinds that were selected through the API: otherwise the user could not deselect them.
  const known: readonly string[] = KINDS[resource];
  const further = value
    .filter((kind) => kind.startsWith(`${resource}.`) && kind !== everything)
    .map((kind) => kind.slice(resource.length + 1))
    .filter((action) => !known.includes(action));
  return (
    <fieldset aria-labelledby={titleId} className="webhooks-kind-group">
      <span id={titleId}>{labels[resource]}</span>
      <div>
        <Checkbox
          checked={hasAll}
          disabled={disabled}
          onChange={({ target }) => onToggle(everything, target.checked)}
          aria-label={t.allOf(labels[resource])}
        >
          {t.everyAction}
        </Checkbox>
        {[...known, ...further].map((action) => (
          <Checkbox
            key={action}
            checked={hasAll || value.includes(`${resource}.${action}`)}
            disabled={hasAll}
            onChange={({ target }) => onToggle(`${resource}.${action}`, target.checked)}
          >
            {getActionLabel(labels, action)}
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
}

import { Link } from 'react-router';
import type { Diff } from '../api.ts';
import { useTexts } from '../language.ts';
import { Card } from '../ui/card.tsx';
import { FieldChanges, InlineFieldChanges } from '../ui/field-changes.tsx';
import { useDepartmentNames } from '../ui/record-names.ts';
import { OperatorName } from './diff-lists.tsx';
import type { PersonChange } from './period-changes.ts';
import { diffTexts } from './texts.ts';

const KINDS = ['created', 'moved', 'updated', 'deleted'] as const;

interface Props {
  people: readonly PersonChange[];
  truncated: boolean;
  /**
   * Departments that were deleted in the period. They can no longer be read, but their names are shown for users who moved out of
   * them.
   */
  deletedDepartments: Diff['deleted'];
}

/** The users who were created, moved, changed or deleted in a period, and by whom. */
export function PeopleDiff({ people, truncated, deletedDepartments }: Props) {
  const t = useTexts(diffTexts);
  const titles = { created: t.usersCreated, moved: t.usersMoved, updated: t.usersUpdated, deleted: t.usersDeleted };
  const deletedNames = new Map(deletedDepartments.map(({ deptId, deptName }) => [deptId, deptName]));
  return (
    <>
      {KINDS.map((kind) => {
        const rows = people.filter((person) => person.kind === kind);
        return (
          rows.length > 0 && (
            <Card key={kind} title={titles[kind](rows.length)}>
              <ul className="item-list">
                {rows.map((person) => (
                  <Person key={person.id} person={person} deletedNames={deletedNames} />
                ))}
              </ul>
            </Card>
          )
        );
      })}
      {truncated && <p className="secondary">{t.truncated}</p>}
    </>
  );
}

interface PersonProps {
  person: PersonChange;
  deletedNames: ReadonlyMap<number, string>;
}

function Person({ person: { id, kind, operator, before, after }, deletedNames }: PersonProps) {
  const t = useTexts(diffTexts);
  const ids = [before?.deptId, after?.deptId].flatMap((deptId) => (deptId ? [deptId] : []));
  const names = useDepartmentNames(kind === 'updated' ? [] : ids);
  const nameOf = (deptId: number | null | undefined) =>
    deptId ? (names.get(deptId) ?? deletedNames.get(deptId) ?? `#${deptId}`) : t.noDepartment;
  const user = after ?? before;
  const name = user?.nickName || user?.userName || `#${id}`;
  const to = after ? `/people/${id}` : `/changes?resource=user&resourceId=${id}`;
  return (
    <li className="changes-diff-item">
      <Link to={to}>{name}</Link>
      <OperatorName operator={operator} />
      {kind === 'updated' ? (
        <FieldChanges change={{ resource: 'user', before, after }} />
      ) : (
        <>
          <div className="changes-move">
            {before && <span>{nameOf(before.deptId)}</span>}
            {before && after && <span className="secondary">→</span>}
            {after && <span>{nameOf(after.deptId)}</span>}
          </div>
          {before && after && (
            <InlineFieldChanges change={{ resource: 'user', before: { ...before, deptId: after.deptId }, after }} />
          )}
        </>
      )}
    </li>
  );
}

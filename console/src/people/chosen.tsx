import { Button } from 'antd';
import type { User } from '../api.ts';
import { useTexts } from '../language.ts';
import type { Kind, Task } from './task.ts';
import { peopleTexts } from './texts.ts';

interface Props {
  people: User[];
  /** Of one's own tenant. */
  own: boolean;
  act: (task: Task) => void;
  none: () => void;
}

/** What can be done with all who are chosen. */
export function Chosen({ people, own, act, none }: Props) {
  const t = useTexts(peopleTexts);
  const names = { move: t.move, password: t.password, enable: t.enable, disable: t.disable, delete: t.remove };
  const kinds: Kind[] = [...(own ? (['move'] as const) : []), 'password', 'enable', 'disable', 'delete'];
  return (
    <div className="people-chosen" role="toolbar" aria-label={t.chosenActions}>
      <strong role="status">{t.chosen(people.length)}</strong>
      {kinds.map((kind) => (
        <Button
          key={kind}
          danger={kind === 'delete'}
          onClick={({ currentTarget }) => act({ kind, people, opener: currentTarget })}
        >
          {names[kind]}
        </Button>
      ))}
      <Button type="link" onClick={none}>
        {t.chooseNone}
      </Button>
    </div>
  );
}

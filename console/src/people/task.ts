import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, type User } from '../api.ts';
import { textsNow } from '../language.ts';
import { useMe } from '../session.ts';
import { wordsFor } from '../ui/notices.ts';
import { changePerson, movedTo } from './person.ts';
import type { Credentials } from './shown-once.tsx';
import { taskTexts } from './texts.ts';

export type Kind = 'disable' | 'enable' | 'delete' | 'move' | 'password';

/** What is to be done, with whom. */
export interface Task {
  kind: Kind;
  people: User[];
  /** Where the focus comes back to: what opened the dialog may be gone by then, such as a menu. */
  opener?: HTMLElement | null;
}

/** How it is to be done. */
export interface Choice {
  deptId?: number;
  passwordOf?: () => string;
}

export interface Result {
  user: User;
  /** Undefined: done. Otherwise the service's own reason. */
  why?: string;
  password?: string;
}

/** One after the other, so that each has his own answer, and so that it can be stopped between two. */
export function useTask() {
  const queries = useQueryClient();
  const { user: me } = useMe();
  const [results, setResults] = useState<Result[]>([]);
  const [busy, setBusy] = useState(false);
  const stop = useRef(false);

  const doOne = async (kind: Kind, user: User, { deptId, passwordOf }: Choice): Promise<string | undefined> => {
    if (kind === 'delete') await api.deleteUsers([user.userId], { tenantId: user.tenantId });
    if (kind === 'disable') await changePerson(queries, user, () => ({ status: '1' }));
    if (kind === 'enable') await changePerson(queries, user, () => ({ status: '0' }));
    if (kind === 'move') await changePerson(queries, user, movedTo(deptId ?? null));
    if (kind !== 'password') return undefined;
    const password = passwordOf?.() ?? '';
    await changePerson(queries, user, () => ({ password }));
    return password;
  };

  const start = async ({ kind, people }: Task, choice: Choice): Promise<Result[]> => {
    const t = textsNow(taskTexts);
    const all: Result[] = [];
    stop.current = false;
    setResults([]);
    setBusy(true);
    for (const user of people) {
      // Who disables himself is shut out in the middle of it.
      const self = user.userId === me.userId && user.tenantId === me.tenantId && kind !== 'move';
      if (stop.current) all.push({ user, why: t.stopped });
      else if (self) all.push({ user, why: t.isSelf });
      else {
        try {
          const password = await doOne(kind, user, choice);
          all.push(password === undefined ? { user } : { user, password });
        } catch (error) {
          all.push({ user, why: wordsFor(error) });
        }
      }
      setResults([...all]);
    }
    setBusy(false);
    for (const key of ['user', 'user-list', 'dept-users', 'dept-children', 'dept-tree', 'overview'])
      void queries.invalidateQueries({ queryKey: [key] });
    return all;
  };

  return {
    start,
    busy,
    results,
    stop: () => {
      stop.current = true;
    },
    forget: () => setResults([]),
  };
}

export const credentialsIn = (results: Result[]): Credentials[] =>
  results.flatMap(({ user: { tenantId, userName }, password }) =>
    password === undefined ? [] : [{ tenantId, userName, password }],
  );

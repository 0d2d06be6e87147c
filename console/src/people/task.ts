import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, type User } from '../api.ts';
import { isRefusal } from '../http.ts';
import { textsNow } from '../language.ts';
import { inThisSession, useMe } from '../session.ts';
import { wordsFor } from '../ui/notices.ts';
import { type Change, changePerson, movedTo } from './person.ts';
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

/**
 * One after the other, so that each has his own answer, and so that it can be stopped between two. It also stops when
 * nobody sees it any more, and with the session. Who starts it again while it runs is told nothing: it is done once.
 */
export function useTask() {
  const queries = useQueryClient();
  const { user: me } = useMe();
  const [results, setResults] = useState<Result[]>([]);
  const [busy, setBusy] = useState(false);
  const running = useRef<AbortController>(undefined);
  const stop = () => running.current?.abort();
  useEffect(() => () => running.current?.abort(), []);

  const doOne = async (
    kind: Kind,
    user: User,
    { deptId, passwordOf }: Choice,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const change = (changeOf: (now: User) => Change) => changePerson(queries, user, changeOf, signal);
    if (kind === 'delete') await api.deleteUsers([user.userId], { tenantId: user.tenantId });
    if (kind === 'disable') await change(() => ({ status: '1' }));
    if (kind === 'enable') await change(() => ({ status: '0' }));
    if (kind === 'move') await change(movedTo(deptId ?? null));
    if (kind !== 'password') return undefined;
    const password = passwordOf?.() ?? '';
    await change(() => ({ password }));
    return password;
  };

  const start = async ({ kind, people }: Task, choice: Choice): Promise<Result[] | undefined> => {
    // Not `busy`: a second click may come before the screen knows of the first.
    if (running.current) return undefined;
    const t = textsNow(taskTexts);
    const all: Result[] = [];
    const sameSession = inThisSession();
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    setResults([]);
    setBusy(true);
    for (const user of people) {
      // Who disables himself is shut out in the middle of it.
      const self = user.userId === me.userId && user.tenantId === me.tenantId && kind !== 'move';
      if (signal.aborted) all.push({ user, why: t.stopped });
      else if (self) all.push({ user, why: t.isSelf });
      else {
        try {
          sameSession();
          const password = await doOne(kind, user, choice, signal);
          all.push(password === undefined ? { user } : { user, password });
        } catch (error) {
          if (isRefusal(error, 'SESSION_ENDED')) stop();
          all.push({ user, why: error === signal.reason ? t.stopped : wordsFor(error) });
        }
      }
      setResults([...all]);
    }
    running.current = undefined;
    setBusy(false);
    for (const key of ['user', 'user-list', 'dept-users', 'dept-children', 'dept-tree', 'overview'])
      void queries.invalidateQueries({ queryKey: [key] });
    return all;
  };

  return {
    start,
    busy,
    results,
    stop,
    forget: () => setResults([]),
  };
}

export const credentialsIn = (results: Result[]): Credentials[] =>
  results.flatMap(({ user: { tenantId, userName }, password }) =>
    password === undefined ? [] : [{ tenantId, userName, password }],
  );

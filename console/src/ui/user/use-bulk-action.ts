import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, type User } from '../../api.ts';
import { isApiError } from '../../http.ts';
import { getTexts } from '../../language.ts';
import { affectedBy } from '../../query-keys.ts';
import { sessionGuard, useMe } from '../../session.ts';
import { getErrorMessage } from '../use-notify.ts';
import type { Credentials } from './new-credentials.tsx';
import { bulkActionTexts } from './texts.ts';
import { addTo, moveTo, removeFrom, type UserPatch, updateUser } from './update-user.ts';

export type BulkActionKind = 'disable' | 'enable' | 'delete' | 'move' | 'password' | 'join' | 'leave';

/** Administrators may do this to themselves too. */
const ALLOWED_ON_SELF: readonly BulkActionKind[] = ['move', 'join', 'leave'];

export interface BulkAction {
  kind: BulkActionKind;
  /** Empty for `join`: the dialog asks for them. */
  users: User[];
  /** The department that users join or leave. */
  department?: { deptId: number; name: string } | undefined;
  /** Gets the focus back when the dialog closes: a menu item that opened the dialog is no longer in the page by then. */
  opener?: HTMLElement | null;
}

/**
 * Values that some actions need: the department to move to, join or leave, how to join it, and where new passwords
 * come from.
 */
interface ActionInput {
  deptId?: number;
  asMain?: boolean;
  createPassword?: () => { password: string; mustChangePassword: boolean };
}

export interface UserResult {
  user: User;
  /** Undefined if the action succeeded. */
  error?: string;
  password?: string;
}

/**
 * Runs an action on one user after another, so that each has a result of its own and the user can stop in between. It
 * also stops when the component unmounts and when the session ends. Starting it again while it runs has no effect.
 */
export function useBulkAction() {
  const queryClient = useQueryClient();
  const { user: me } = useMe();
  const [results, setResults] = useState<UserResult[]>([]);
  const [isRunning, setIsRunning] = useState(false);
  const [total, setTotal] = useState(0);
  const controllerRef = useRef<AbortController>(undefined);
  const stop = () => controllerRef.current?.abort();
  useEffect(() => () => controllerRef.current?.abort(), []);

  /** Returns the new password, if the action sets one. */
  const runForUser = async (
    kind: BulkActionKind,
    user: User,
    { deptId, asMain, createPassword }: ActionInput,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const patchUser = (createPatch: (user: User) => UserPatch) => updateUser(queryClient, user, createPatch, signal);
    if (kind === 'delete') await api.deleteUsers([user.userId], { tenantId: user.tenantId });
    if (kind === 'disable') await patchUser(() => ({ status: '1' }));
    if (kind === 'enable') await patchUser(() => ({ status: '0' }));
    if (kind === 'move' || (kind === 'join' && asMain)) await patchUser(moveTo(deptId ?? null));
    else if (kind === 'join' && deptId) await patchUser(addTo(deptId));
    if (kind === 'leave' && deptId) await patchUser(removeFrom(deptId));
    if (kind !== 'password') return undefined;
    const created = createPassword?.();
    if (!created) return undefined;
    await patchUser(() => created);
    return created.password;
  };

  const start = async ({ kind, users }: BulkAction, input: ActionInput): Promise<UserResult[] | undefined> => {
    // A ref instead of the state: a second click can come before the next render.
    if (controllerRef.current) return undefined;
    const t = getTexts(bulkActionTexts);
    const newResults: UserResult[] = [];
    const assertSameSession = sessionGuard();
    const controller = new AbortController();
    controllerRef.current = controller;
    const { signal } = controller;
    setResults([]);
    setTotal(users.length);
    setIsRunning(true);
    for (const user of users) {
      // An administrator who disables their own account would lose access before the action is complete.
      const isSelf = user.userId === me.userId && user.tenantId === me.tenantId && !ALLOWED_ON_SELF.includes(kind);
      if (signal.aborted) newResults.push({ user, error: t.stopped });
      else if (isSelf) newResults.push({ user, error: t.isSelf });
      else {
        try {
          assertSameSession();
          const password = await runForUser(kind, user, input, signal);
          newResults.push(password === undefined ? { user } : { user, password });
        } catch (error) {
          if (isApiError(error, 'SESSION_ENDED')) stop();
          newResults.push({ user, error: error === signal.reason ? t.stopped : getErrorMessage(error) });
        }
      }
      setResults([...newResults]);
    }
    controllerRef.current = undefined;
    setIsRunning(false);
    for (const queryKey of affectedBy.users) void queryClient.invalidateQueries({ queryKey });
    return newResults;
  };

  return {
    start,
    isRunning,
    /** How many users the action is for. */
    total,
    results,
    stop,
    reset: () => setResults([]),
  };
}

export const getCredentials = (results: UserResult[]): Credentials[] =>
  results.flatMap(({ user: { tenantId, userName }, password }) =>
    password === undefined ? [] : [{ tenantId, userName, password }],
  );

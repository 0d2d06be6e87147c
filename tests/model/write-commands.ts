import fc from 'fast-check';
import { PASSWORD } from '../support/service.ts';
import { OTHER_PASSWORD } from './account-commands.ts';
import {
  deptFields,
  INVALID_PERIOD,
  mutate,
  period,
  someMutation,
  tenantFields,
  userFields,
  userNames,
} from './bodies.ts';
import {
  deptOf,
  homeTenant,
  ifMatchOf,
  someDept,
  someManager,
  someTenant,
  sometimes,
  someUser,
  tenantOf,
  userOf,
  weighted,
} from './choices.ts';
import { codeOf, command, DEPT, otherTenant, shared, TENANT, USER } from './command.ts';

export const writeDept = command(
  {
    ...shared,
    fields: deptFields,
    parent: sometimes(70, fc.record({ top: weighted([5, false], [1, true]), text: fc.boolean(), choice: someDept })),
    to: someDept,
    foreign: sometimes(4, someTenant),
    mutation: someMutation('dept'),
    update: fc.boolean(),
  },
  ({ caller, key, match, fields, parent, to, foreign, mutation, update }, state) => {
    const home = homeTenant(state, caller);
    const id = deptOf(state, home, to);
    const parentId = parent && (parent.top ? '0' : deptOf(state, home, parent.choice));
    const body = {
      ...(update ? { deptId: Number(id) } : {}),
      ...fields,
      ...(parentId ? { parentId: parent?.text ? parentId : Number(parentId) } : {}),
      ...(foreign ? { tenantId: tenantOf(state, home, foreign).tenantId } : {}),
    };
    const request = { caller, path: DEPT, query: {}, body: mutate(body, mutation), key };
    return update
      ? { ...request, method: 'PUT', ifMatch: ifMatchOf(state, `${DEPT}/${id}`, match) }
      : { ...request, method: 'POST' };
  },
);

export const writeUser = command(
  {
    ...shared,
    fields: userFields,
    userName: userNames,
    renames: weighted([3, false], [1, true]),
    password: sometimes(10, fc.constant(OTHER_PASSWORD)),
    main: sometimes(50, someDept),
    additional: fc.array(someDept, { maxLength: 2 }),
    to: someUser,
    otherTenant,
    mutation: someMutation('user'),
    update: weighted([3, true], [2, false]),
  },
  ({ caller, key, match, to, mutation, update, fields, ...chosen }, state) => {
    const code = codeOf(state, homeTenant(state, caller), chosen.otherTenant);
    const home = code ?? homeTenant(state, caller);
    const id = userOf(state, home, to, caller);
    const { userName, renames, password, main, additional } = chosen;
    const body = {
      ...(update ? { userId: Number(id) } : { password: PASSWORD }),
      ...(code ? { tenantId: code } : {}),
      ...(update && !renames ? {} : { userName }),
      ...(password ? { password } : {}),
      ...fields,
      ...(main ? { deptId: Number(deptOf(state, home, main)) } : {}),
      ...(additional.length > 0 ? { deptIds: additional.map((choice) => deptOf(state, home, choice)) } : {}),
    };
    const request = { caller, path: USER, query: {}, body: mutate(body, mutation), key };
    return update
      ? { ...request, method: 'PUT', ifMatch: ifMatchOf(state, `${USER}/${id}`, match) }
      : { ...request, method: 'POST' };
  },
);

export const writeTenant = command(
  {
    ...shared,
    caller: someManager,
    fields: tenantFields,
    period,
    first: sometimes(25, userNames),
    parent: sometimes(50, someTenant),
    to: someTenant,
    mutation: someMutation('tenant'),
    update: weighted([2, true], [1, false]),
  },
  ({ caller, key, match, fields, period, first, parent, to, mutation, update }, state) => {
    const home = homeTenant(state, caller);
    const { id } = tenantOf(state, home, to);
    const tenantParent = codeOf(state, home, parent);
    const body = {
      ...(update ? { id } : {}),
      ...(!update && first ? { username: first, password: PASSWORD } : {}),
      ...(tenantParent ? { tenantParent } : {}),
      ...fields,
      ...period,
    };
    const request = { caller, path: TENANT, query: {}, body: mutate(body, mutation) };
    // The documentation does not say whether the error of an invalid period is stored under an Idempotency-Key.
    const keyed = { key: period === INVALID_PERIOD ? undefined : key };
    return update
      ? { ...request, ...keyed, method: 'PUT', ifMatch: ifMatchOf(state, `${TENANT}/${id}`, match) }
      : { ...request, ...keyed, method: 'POST' };
  },
);

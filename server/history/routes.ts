import type { App, Parts } from '../app.ts';
import { readAs } from '../auth/caller.ts';
import { ok } from '../http/envelope.ts';
import { IdPath } from '../http/fields.ts';
import { answers, guarded } from '../http/openapi.ts';
import { invalid, pathId } from '../http/validation.ts';
import { compareDepartments } from './diff.ts';
import { readDepartmentLife } from './life.ts';
import { momentOf, now } from './moment.ts';
import { Diff, DiffFilter, LifeFilter, LifePage } from './schema.ts';

const path = '/system/dept-api';
const shared = { ...guarded, tags: ['Departments'] };

export function historyRoutes(app: App, parts: Parts): void {
  const { db } = parts;
  app.get(
    `${path}/:id/history`,
    {
      schema: {
        ...shared,
        operationId: 'readDepartmentHistory',
        summary: 'The life of a department: all that was done to it',
        description: 'Administrators, because it names who did it. Of a deleted department too.',
        params: IdPath,
        querystring: LifeFilter,
        response: answers('guarded', { data: LifePage, reasons: ['NOT_ALLOWED', 'DEPT_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(
        await readAs(db, request, 'administrator', (tx, caller) => readDepartmentLife(tx, caller, id, request.query)),
      );
    },
  );

  app.get(
    `${path}/diff`,
    {
      schema: {
        ...shared,
        operationId: 'compareDepartments',
        summary: 'What was created, deleted, moved, renamed and changed between two moments',
        description:
          'Any user of the tenant. The difference between two states, not the way from one to the other: what was ' +
          'made and deleted in between is not in it. Each list is in the order of ids.',
        querystring: DiffFilter,
        response: answers('guarded', {
          data: Diff,
          reasons: ['FIELD_REQUIRED', 'DIFF_TOO_LARGE', 'PATHS_TOO_LONG', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request) => {
      const { query } = request;
      const from = await momentOf(parts, query.from, 'from');
      const to = query.to === undefined ? await now(parts) : await momentOf(parts, query.to, 'to');
      // Of one form and one zone, so they compare as text.
      if (to < from) throw invalid('to', 'beforeFrom');
      return ok(await readAs(db, request, 'user', (tx, caller) => compareDepartments(tx, caller, { from, to })));
    },
  );
}

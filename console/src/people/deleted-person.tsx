import { Alert, Button } from 'antd';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import { formatDateTime, getResourceName } from '../ui/change-summary.tsx';
import { changeTexts } from '../ui/change-texts.ts';
import NotFound from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { PersonHistory, useUserHistory } from './person-history.tsx';
import { personTexts } from './person-texts.ts';

/** The page of a user who was deleted: says so, with a button that restores them and their history. */
export function DeletedPerson({ id, tenantId }: { id: number; tenantId: string | undefined }) {
  const t = useTexts(personTexts);
  const { system } = useTexts(changeTexts);
  const { data, error, refetch } = useUserHistory(id, tenantId);
  const deletion = data?.pages[0]?.data.rows.find(({ action }) => action === 'deleted');
  const name = (deletion && getResourceName(deletion)) || `#${id}`;
  const restore = useApiMutation({
    mutationFn: () => api.restoreUser(id, { tenantId }),
    successMessage: t.restored(name),
    invalidates: [...affectedBy.revert, queryKeys.users.all],
  });
  if (data && !deletion) return <NotFound />;
  return (
    <>
      <PageTitle title={deletion ? name : t.title} />
      {error ? <LoadError error={error} onRetry={refetch} /> : !deletion && <Loading />}
      {deletion && (
        <>
          <Alert
            type="warning"
            showIcon
            className="margin-bottom"
            title={t.wasDeleted(name)}
            description={t.deletedHint(deletion.by || system, formatDateTime(deletion.time))}
            action={
              <Button loading={restore.isPending} onClick={() => restore.mutate()}>
                {t.restore}
              </Button>
            }
          />
          <PersonHistory id={id} tenantId={tenantId} />
        </>
      )}
    </>
  );
}

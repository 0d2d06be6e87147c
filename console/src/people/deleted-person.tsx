import { useTexts } from '../language.ts';
import { getResourceName } from '../ui/change-summary.tsx';
import { DeletedRecord } from '../ui/deleted-record.tsx';
import NotFound from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { useRecordHistory } from '../ui/record-history.tsx';
import { PersonHistory } from './person-history.tsx';
import { personTexts } from './person-texts.ts';

interface Props {
  id: number;
  tenantId: string | undefined;
  /** The error of the failed attempt to read the user. */
  error: unknown;
}

/** The page of a deleted user: shows who deleted them, a button to restore them, and their history. */
export function DeletedPerson({ id, tenantId, error }: Props) {
  const t = useTexts(personTexts);
  const { data, isFetchedAfterMount } = useRecordHistory({ resource: 'user', id, tenantId });
  const deletion = data?.pages[0]?.data.rows.find(({ action }) => action === 'deleted');
  // Right after a deletion, the cached history does not contain it yet. Wait for the refetch.
  if (data && !deletion && isFetchedAfterMount) return <NotFound />;
  return (
    <>
      <PageTitle title={(deletion && getResourceName(deletion)) || t.title} />
      <DeletedRecord resource="user" id={id} tenantId={tenantId} error={error} />
      <PersonHistory id={id} tenantId={tenantId} />
    </>
  );
}

import { ArrowLeftOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import { api, type User } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import NotFound from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { useUrlParams } from '../ui/use-url-params.ts';
import { BulkActionDialog } from '../ui/user/bulk-action-dialog.tsx';
import { usePersonOrigin } from '../ui/user/person-link.tsx';
import { getDisplayName } from '../ui/user/update-user.ts';
import type { BulkAction } from '../ui/user/use-bulk-action.ts';
import { UserActions } from '../ui/user/user-actions.tsx';
import { UserDialog } from '../ui/user/user-dialog.tsx';
import { DeletedPerson } from './deleted-person.tsx';
import { OtherTenantNotice } from './other-tenant-notice.tsx';
import { PersonDetails } from './person-details.tsx';
import { PersonHistory } from './person-history.tsx';
import { PersonLogins } from './person-logins.tsx';
import { PersonSessions } from './person-sessions.tsx';
import { personTexts } from './person-texts.ts';
import './person.css';

/** The page of one user: details, departments, role, sessions, logins and history. */
export default function Person() {
  const t = useTexts(personTexts);
  const { id = '' } = useParams();
  const [search] = useUrlParams();
  const ownTenantId = useMe().tenant.tenantId;
  const origin = usePersonOrigin();
  const requested = search.get('tenantId');
  const tenantId = requested && requested !== ownTenantId ? requested : undefined;
  return (
    <AdministratorsOnly title={t.title}>
      <Link to={origin ?? (tenantId ? `/people?tenantId=${tenantId}` : '/people')} className="person-back">
        <ArrowLeftOutlined aria-hidden /> {origin?.startsWith('/departments/') ? t.backToDepartment : t.back}
      </Link>
      {/^\d{1,15}$/.test(id) ? (
        <PersonContent key={`${id} ${tenantId}`} id={Number(id)} tenantId={tenantId} />
      ) : (
        <NotFound />
      )}
    </AdministratorsOnly>
  );
}

function PersonContent({ id, tenantId }: { id: number; tenantId: string | undefined }) {
  const t = useTexts(personTexts);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.users.detail(id, tenantId),
    queryFn: ({ signal }) => api.readUser(id, { tenantId }, signal),
  });
  if (isApiError(error, 'USER_NOT_FOUND')) return <DeletedPerson id={id} tenantId={tenantId} error={error} />;
  if (data) return <PersonPage user={data.data} tenantId={tenantId} />;
  return (
    <>
      <PageTitle title={t.title} />
      {error ? <LoadError error={error} onRetry={refetch} /> : <Loading />}
    </>
  );
}

function PersonPage({ user, tenantId }: { user: User; tenantId: string | undefined }) {
  const [search, setSearch] = useUrlParams();
  const [action, setAction] = useState<BulkAction | null>(null);
  return (
    <>
      <PageTitle title={getDisplayName(user)}>
        <UserActions user={user} onEdit={() => setSearch({ edit: 'true' })} onAction={setAction} canMove={!tenantId} />
      </PageTitle>
      {tenantId && <OtherTenantNotice tenantId={tenantId} />}
      <div className="person-columns">
        <PersonDetails user={user} tenantId={tenantId} />
        <div className="stack">
          <PersonSessions user={user} tenantId={tenantId} />
          <PersonLogins user={user} tenantId={tenantId} />
          <PersonHistory id={user.userId} tenantId={tenantId} />
        </div>
      </div>
      <UserDialog
        person={search.get('edit') === 'true' ? user.userId : null}
        tenantId={tenantId}
        onClose={() => setSearch({ edit: null }, { replace: true })}
      />
      <BulkActionDialog action={action} onClose={() => setAction(null)} />
    </>
  );
}

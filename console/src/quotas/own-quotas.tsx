import { useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { QuotaList } from '../ui/quota-list.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { quotasTexts } from './texts.ts';

/** The quotas of the current tenant. Only administrators of tenants above can change them. */
export function OwnQuotas() {
  const t = useTexts(quotasTexts);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.quotas.list(undefined),
    queryFn: ({ signal }) => api.listQuotas({}, signal),
    staleTime: 0,
  });
  return (
    <Card className="quotas-own" aria-label={t.own}>
      {error && !data ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : data.data.length === 0 ? (
        <Empty text={t.none} />
      ) : (
        <QuotaList quotas={data.data} pathOf={(quota) => `/quotas/${quota}`} />
      )}
    </Card>
  );
}

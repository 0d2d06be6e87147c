import { ReloadOutlined } from '@ant-design/icons';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Button, Select } from 'antd';
import { useState } from 'react';
import { api, type DeliveryState, type Webhook } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { getRefetchInterval } from './delivery-polling.ts';
import { DeliveryRow } from './delivery-row.tsx';
import { deliveryTexts } from './texts.ts';

const PAGE_SIZE = 20;
const STATES: readonly DeliveryState[] = ['waiting', 'delivered', 'failed'];

/** The deliveries of a webhook, newest first, each with the last response. */
export function DeliveryList({ webhook }: { webhook: Webhook }) {
  const t = useTexts(deliveryTexts);
  const queryClient = useQueryClient();
  const [state, setState] = useState<DeliveryState | null>(null);
  const filter = { limit: PAGE_SIZE, ...(state ? { state } : {}) };
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: queryKeys.webhooks.deliveries(webhook.id, filter),
    queryFn: ({ pageParam, signal }) =>
      api.listDeliveries(webhook.id, { ...filter, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ data: { next } }) => next ?? undefined,
    staleTime: 0,
    refetchInterval: ({ state: { data } }) =>
      webhook.status === '1' ? false : getRefetchInterval(data?.pages.flatMap(({ data: { rows } }) => rows) ?? []),
  });
  const rows = data?.pages.flatMap(({ data: { rows } }) => rows);
  // The webhook's own numbers change with its deliveries.
  const refresh = () => {
    void refetch();
    void queryClient.invalidateQueries({ queryKey: queryKeys.webhooks.detail(webhook.id), exact: true });
  };
  return (
    <Card
      className="webhooks-deliveries"
      title={t.title}
      extra={
        <>
          <Select<DeliveryState | null>
            value={state}
            onChange={(next) => setState(next ?? null)}
            placeholder={t.anyState}
            aria-label={t.state}
            allowClear
            className="webhooks-state-filter"
            options={STATES.map((value) => ({ value, label: t[value] }))}
          />
          <Button icon={<ReloadOutlined />} loading={isFetching && !isFetchingNextPage} onClick={refresh}>
            {t.refresh}
          </Button>
        </>
      }
    >
      <p className="secondary webhooks-retention">{t.retention}</p>
      {error && !rows ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !rows ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty text={state ? t.noneFound : t.none}>
          {state && <Button onClick={() => setState(null)}>{t.clear}</Button>}
        </Empty>
      ) : (
        <ul className="item-list">
          {rows.map((delivery) => (
            <DeliveryRow key={delivery.id} webhook={webhook} delivery={delivery} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <p className="webhooks-more">
          <Button loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {t.older}
          </Button>
        </p>
      )}
    </Card>
  );
}

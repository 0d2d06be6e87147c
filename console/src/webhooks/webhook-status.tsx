import { useQuery } from '@tanstack/react-query';
import { api, type Delivery, type Webhook } from '../api.ts';
import { useListFormat, useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { formatDateTime } from '../ui/change-summary.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { useKindLabel } from '../ui/use-kind-label.ts';
import { getRefetchInterval } from './delivery-polling.ts';
import { deliveryTexts, webhooksTexts } from './texts.ts';

export function WebhookStatus({ webhook: { status, gone, failures } }: { webhook: Webhook }) {
  const t = useTexts(webhooksTexts);
  if (status === '1') return gone ? <StatusTag tone="error">{t.gone}</StatusTag> : <StatusTag>{t.disabled}</StatusTag>;
  if (failures > 0) return <StatusTag tone="warning">{t.failing(failures)}</StatusTag>;
  return <StatusTag tone="success">{t.normal}</StatusTag>;
}

export function DeliveryStatus({ delivery: { state, attempts } }: { delivery: Delivery }) {
  const t = useTexts(deliveryTexts);
  if (state === 'delivered') return <StatusTag tone="success">{t.delivered}</StatusTag>;
  if (state === 'failed') return <StatusTag tone="error">{t.failed}</StatusTag>;
  return attempts > 0 ? <StatusTag tone="warning">{t.retrying}</StatusTag> : <StatusTag>{t.waiting}</StatusTag>;
}

/** The HTTP status of the last attempt, or that there was no response; empty if there was no attempt. */
export function useResponseText(): (delivery: Delivery) => string {
  const t = useTexts(deliveryTexts);
  return ({ lastStatus, lastTime }) => (lastStatus ? t.http(lastStatus) : lastTime ? t.noResponse : '');
}

/** The state of the latest delivery, which the list of webhooks does not contain. */
export function LastDelivery({ webhook: { id, status } }: { webhook: Webhook }) {
  const t = useTexts(webhooksTexts);
  const getResponse = useResponseText();
  const filter = { limit: 1 };
  const { data } = useQuery({
    queryKey: queryKeys.webhooks.deliveries(id, filter),
    queryFn: ({ signal }) => api.listDeliveries(id, filter, signal),
    staleTime: 0,
    refetchInterval: ({ state: { data } }) => (status === '1' ? false : getRefetchInterval(data?.data.rows ?? [])),
  });
  if (!data) return null;
  const [delivery] = data.data.rows;
  if (!delivery) return <span className="secondary">{t.noDeliveries}</span>;
  const response = getResponse(delivery);
  return (
    <>
      <DeliveryStatus delivery={delivery} /> {response}
      <div className="secondary">{formatDateTime(delivery.lastTime ?? delivery.time)}</div>
    </>
  );
}

const MAX_KINDS = 3;

/** The subscribed kinds of changes. If there are many, it shows the first ones and the total. */
export function KindList({ webhook: { kinds, below }, full = false }: { webhook: Webhook; full?: boolean }) {
  const t = useTexts(webhooksTexts);
  const formatList = useListFormat();
  const kindLabel = useKindLabel();
  const shown = full ? kinds : kinds.slice(0, MAX_KINDS);
  return (
    <>
      {formatList(shown.map(kindLabel))} {shown.length < kinds.length && t.moreKinds(kinds.length)}
      {below && <div className="secondary">{t.below}</div>}
    </>
  );
}

import { DownOutlined, RedoOutlined, UpOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useId, useState } from 'react';
import { Link } from 'react-router';
import { api, type Delivery, type Webhook } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { formatDateTime } from '../ui/change-summary.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useKindLabel } from '../ui/use-kind-label.ts';
import { deliveryTexts } from './texts.ts';
import { DeliveryStatus, useResponseText } from './webhook-status.tsx';

/** A delivery that expands to show the receiver's response. */
export function DeliveryRow({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const t = useTexts(deliveryTexts);
  const kindLabel = useKindLabel();
  const getResponse = useResponseText();
  const [expanded, setExpanded] = useState(false);
  const detailsId = useId();
  const resend = useApiMutation({
    mutationFn: () => api.resendDelivery(webhook.id, delivery.id),
    successMessage: t.resent,
    invalidates: affectedBy.webhooks,
  });
  const { messageId, attempts, time } = delivery;
  const summary = [
    formatDateTime(time),
    getResponse(delivery),
    attempts > 0 ? t.attempts(attempts) : '',
    messageId,
  ].filter(Boolean);
  return (
    <li className="webhooks-delivery">
      <div className="webhooks-delivery-main">
        <div className="webhooks-delivery-title">
          <DeliveryStatus delivery={delivery} />
          <span>{kindLabel(delivery.type)}</span>
        </div>
        <div className="secondary">{summary.join(' · ')}</div>
      </div>
      <Button
        type="text"
        icon={<RedoOutlined />}
        disabled={webhook.status === '1'}
        loading={resend.isPending}
        onClick={() => resend.mutate()}
        aria-label={t.resendOf(messageId)}
      >
        <span className="webhooks-button-label">{t.resend}</span>
      </Button>
      <Button
        type="text"
        icon={expanded ? <UpOutlined /> : <DownOutlined />}
        aria-expanded={expanded}
        aria-controls={expanded ? detailsId : undefined}
        aria-label={t.detailsOf(messageId)}
        onClick={() => setExpanded(!expanded)}
      >
        <span className="webhooks-button-label">{t.details}</span>
      </Button>
      {expanded && (
        <div id={detailsId} className="webhooks-delivery-details">
          <DeliveryDetails delivery={delivery} />
        </div>
      )}
    </li>
  );
}

function DeliveryDetails({ delivery }: { delivery: Delivery }) {
  const t = useTexts(deliveryTexts);
  const getResponse = useResponseText();
  const ownTenantId = useMe().tenant.tenantId;
  const { messageId, type, resourceId, tenantId, changeId, state, attempts, time, nextTry } = delivery;
  const { lastTime, lastMs, lastError, lastAnswer } = delivery;
  const next = nextTry ? formatDateTime(nextTry) : t.behind;
  return (
    <>
      <DescriptionList
        items={[
          ...(tenantId === ownTenantId ? [] : [{ label: t.tenant, value: tenantId }]),
          { label: t.messageId, value: <code>{messageId}</code> },
          { label: t.time, value: formatDateTime(time) },
          { label: t.attemptsLabel, value: String(attempts) },
          ...(state === 'waiting' ? [{ label: t.nextTry, value: next }] : []),
          ...(lastTime
            ? [
                { label: t.lastTime, value: formatDateTime(lastTime) },
                { label: t.status, value: getResponse(delivery) },
                ...(lastMs === null ? [] : [{ label: t.durationLabel, value: t.duration(lastMs) }]),
              ]
            : []),
          ...(lastError ? [{ label: t.error, value: lastError }] : []),
        ]}
      />
      {lastAnswer !== null && (
        <div className="webhooks-answer">
          <div className="secondary">
            {t.body} · {t.bodyHint}
          </div>
          <pre>{lastAnswer || t.emptyBody}</pre>
        </div>
      )}
      {changeId !== null && (
        <Link
          to={`/changes?resource=${type.split('.')[0]}&resourceId=${resourceId}${tenantId === ownTenantId ? '' : `&tenant=${tenantId}`}`}
        >
          {t.change}
        </Link>
      )}
    </>
  );
}

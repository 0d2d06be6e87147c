import { SendOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Alert, Button } from 'antd';
import { Link, useParams } from 'react-router';
import { api, type Webhook } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { formatDateTime } from '../ui/change-summary.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { webhooksTexts } from './texts.ts';
import { useTestWebhook, WebhookActions } from './webhook-actions.tsx';
import { useWebhookForm } from './webhook-dialog.tsx';
import { KindList, WebhookStatus } from './webhook-status.tsx';
import { getWebhookName } from './webhook-values.ts';

const POLL_MS = 5_000;

export function WebhookDetail() {
  const t = useTexts(webhooksTexts);
  const { id = '' } = useParams();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.webhooks.detail(id),
    queryFn: ({ signal }) => api.readWebhook(id, signal),
    staleTime: 0,
    // Its numbers change with each attempt.
    refetchInterval: ({ state: { data } }) => (data?.data.status === '0' && data.data.waiting > 0 ? POLL_MS : false),
  });
  // A query keeps its data when a later read fails.
  if (!data || isApiError(error, 'WEBHOOK_NOT_FOUND'))
    return (
      <>
        <PageTitle title={t.title} />
        {error ? <LoadError error={error} onRetry={refetch} /> : <Loading />}
        <Link to="/webhooks">{t.backToList}</Link>
      </>
    );
  return <Detail webhook={data.data} />;
}

function Detail({ webhook }: { webhook: Webhook }) {
  const t = useTexts(webhooksTexts);
  const form = useWebhookForm();
  const test = useTestWebhook(webhook);
  const { waiting, nextDue, oldSecretUntil, createBy, createTime, updateBy, updateTime } = webhook;
  return (
    <div className="stack">
      <nav>
        <Link to="/webhooks">← {t.backToList}</Link>
      </nav>
      <PageTitle title={getWebhookName(webhook)}>
        <Button
          icon={<SendOutlined />}
          disabled={webhook.status === '1'}
          loading={test.isPending}
          onClick={() => test.mutate()}
        >
          {t.test}
        </Button>
        <Button onClick={() => form.open(webhook.id)}>{t.edit}</Button>
        <WebhookActions webhook={webhook} />
      </PageTitle>
      <Problem webhook={webhook} />
      <Card aria-label={t.title}>
        <DescriptionList
          className="webhooks-wide"
          items={[
            { label: t.url, value: webhook.url },
            { label: t.kinds, value: <KindList webhook={webhook} full /> },
          ]}
        />
        <DescriptionList
          items={[
            { label: t.status, value: <WebhookStatus webhook={webhook} /> },
            { label: t.waiting, value: t.waitingCount(waiting) },
            ...(nextDue && webhook.status === '0' ? [{ label: t.nextDue, value: formatDateTime(nextDue) }] : []),
            ...(oldSecretUntil ? [{ label: t.oldSecretUntil, value: formatDateTime(oldSecretUntil) }] : []),
            { label: t.created, value: t.byAt(createBy, createTime) },
            ...(updateTime ? [{ label: t.updated, value: t.byAt(updateBy, updateTime) }] : []),
          ]}
        />
      </Card>
      <DeliveryList webhook={webhook} />
    </div>
  );
}

/** Says why messages do not arrive. */
function Problem({ webhook: { status, gone, failures, waiting, nextDue } }: { webhook: Webhook }) {
  const t = useTexts(webhooksTexts);
  if (status === '1' && gone) return <Alert type="error" showIcon title={t.goneTitle} description={t.goneHint} />;
  if (status === '1') return <Alert type="info" showIcon title={t.disabledTitle} />;
  if (failures === 0) return null;
  return (
    <Alert
      type="warning"
      showIcon
      title={t.failingTitle(failures)}
      description={t.failingHint(waiting, nextDue ? formatDateTime(nextDue) : '')}
    />
  );
}

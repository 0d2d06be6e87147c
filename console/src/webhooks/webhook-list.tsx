import { PlusOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Table } from 'antd';
import { Link } from 'react-router';
import { api, type Webhook } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { webhooksTexts } from './texts.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { useWebhookForm } from './webhook-dialog.tsx';
import { KindList, LastDelivery, WebhookStatus } from './webhook-status.tsx';
import { getWebhookName } from './webhook-values.ts';

export function WebhookList() {
  const t = useTexts(webhooksTexts);
  const form = useWebhookForm();
  return (
    <>
      <PageTitle title={t.title}>
        <Button type="primary" icon={<PlusOutlined />} onClick={() => form.open('new')}>
          {t.create}
        </Button>
      </PageTitle>
      <p className="secondary webhooks-intro">{t.intro}</p>
      <Card className="webhooks-card" aria-label={t.title}>
        <Rows onCreate={() => form.open('new')} />
      </Card>
    </>
  );
}

function Rows({ onCreate }: { onCreate: () => void }) {
  const t = useTexts(webhooksTexts);
  const isPhone = useIsPhone();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.webhooks.list,
    queryFn: ({ signal }) => api.listWebhooks(signal),
    staleTime: 0,
  });
  if (error && !data) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const { rows } = data.data;
  if (rows.length === 0)
    return (
      <Empty text={t.none}>
        <Button onClick={onCreate}>{t.create}</Button>
      </Empty>
    );
  if (isPhone)
    return (
      <ul className="webhooks-list">
        {rows.map((webhook) => (
          <li key={webhook.id}>
            <div className="webhooks-item">
              <WebhookName webhook={webhook} />
              <RowActions webhook={webhook} />
            </div>
            <WebhookStatus webhook={webhook} />
            <div>
              <LastDelivery webhook={webhook} />
            </div>
          </li>
        ))}
      </ul>
    );
  return (
    <Table<Webhook>
      className="webhooks-table"
      size="middle"
      rowKey="id"
      dataSource={rows}
      pagination={false}
      columns={[
        { key: 'name', title: t.name, render: (_, webhook) => <WebhookName webhook={webhook} /> },
        { key: 'kinds', title: t.kinds, width: '24%', render: (_, webhook) => <KindList webhook={webhook} /> },
        { key: 'status', title: t.status, width: 150, render: (_, webhook) => <WebhookStatus webhook={webhook} /> },
        { key: 'last', title: t.lastDelivery, width: 220, render: (_, webhook) => <LastDelivery webhook={webhook} /> },
        {
          key: 'actions',
          title: t.actions,
          width: 120,
          align: 'end',
          render: (_, webhook) => <RowActions webhook={webhook} />,
        },
      ]}
    />
  );
}

function WebhookName({ webhook }: { webhook: Webhook }) {
  return (
    <div className="webhooks-name">
      <Link to={`/webhooks/${webhook.id}`}>{getWebhookName(webhook)}</Link>
      <div className="secondary">{webhook.url}</div>
    </div>
  );
}

function RowActions({ webhook }: { webhook: Webhook }) {
  const t = useTexts(webhooksTexts);
  const form = useWebhookForm();
  return (
    <div className="row-actions">
      <Button
        type="link"
        size="small"
        onClick={() => form.open(webhook.id)}
        aria-label={t.editOf(getWebhookName(webhook))}
      >
        {t.edit}
      </Button>
      <WebhookActions webhook={webhook} compact />
    </div>
  );
}

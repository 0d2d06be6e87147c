import { ReloadOutlined } from '@ant-design/icons';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button, Input } from 'antd';
import { useState } from 'react';
import { api, type QuotaUse } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useDebouncedValue } from '../ui/use-debounced-value.ts';
import { useDialogs } from '../ui/use-dialogs.ts';
import { KeyName, UserName } from './names.tsx';
import { usesTexts } from './texts.ts';

const PAGE_SIZE = 20;

interface Props {
  quota: string;
  tenantId: string | undefined;
}

/** Each use of a quota, the latest first. */
export function UseList({ quota, tenantId }: Props) {
  const t = useTexts(usesTexts);
  const [text, setText] = useState('');
  const subject = useDebouncedValue(text.trim(), 300);
  const filter = { tenantId, quota, pageSize: PAGE_SIZE, ...(subject ? { subject } : {}) };
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: queryKeys.quotas.uses(filter),
    queryFn: ({ pageParam, signal }) => api.listUses({ ...filter, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ data }) => ('next' in data ? (data.next ?? undefined) : undefined),
    staleTime: 0,
  });
  const rows = data?.pages.flatMap(({ data: { rows } }) => rows);
  return (
    <Card
      className="quotas-card"
      title={t.title}
      extra={
        <>
          <Input
            className="quotas-subject"
            aria-label={t.subjectFilter}
            placeholder={t.subjectFilter}
            maxLength={200}
            allowClear
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button icon={<ReloadOutlined />} loading={isFetching && !isFetchingNextPage} onClick={() => refetch()}>
            {t.refresh}
          </Button>
        </>
      }
    >
      {error && !rows ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !rows ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty text={subject ? t.noneFound : t.none} />
      ) : (
        <ul className="item-list quotas-uses">
          {rows.map((use) => (
            <UseRow key={use.useId} use={use} tenantId={tenantId} />
          ))}
        </ul>
      )}
      {error && rows && <LoadError error={error} />}
      {hasNextPage && (
        <p className="quotas-more">
          <Button loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {t.older}
          </Button>
        </p>
      )}
    </Card>
  );
}

function UseRow({ use, tenantId }: { use: QuotaUse; tenantId: string | undefined }) {
  const t = useTexts(usesTexts);
  const { amount, subject, time, userId, keyId, refundTime, refundBy, archived } = use;
  return (
    <li>
      <div className="quotas-use">
        <div>
          <strong>{subject ?? <span className="secondary">{t.noSubject}</span>}</strong>{' '}
          {refundTime && <StatusTag>{t.refundedTag}</StatusTag>}
          {archived && <StatusTag>{t.archivedTag}</StatusTag>}
        </div>
        <div className="secondary">
          {userId !== null ? (
            <UserName id={userId} tenantId={tenantId} />
          ) : keyId !== null ? (
            <KeyName id={keyId} />
          ) : (
            t.above
          )}{' '}
          · {time}
          {refundTime && <> · {t.refunded(refundBy ?? '', refundTime)}</>}
        </div>
      </div>
      <span className={refundTime ? 'quotas-amount quotas-refunded' : 'quotas-amount'}>{amount.toLocaleString()}</span>
      <span className="row-actions quotas-refund">
        {!refundTime && !archived && <RefundButton use={use} tenantId={tenantId} />}
      </span>
    </li>
  );
}

function RefundButton({ use: { useId, amount, time }, tenantId }: { use: QuotaUse; tenantId: string | undefined }) {
  const t = useTexts(usesTexts);
  const dialogs = useDialogs();
  const { mutateAsync, isPending } = useApiMutation({
    mutationFn: () => api.refundUse(useId, { tenantId }),
    successMessage: t.refundDone,
    invalidates: affectedBy.quotas,
  });
  const confirm = () =>
    dialogs.confirm({
      title: t.refundTitle(amount.toLocaleString()),
      content: t.refundHint,
      okText: t.refund,
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      onOk: () => mutateAsync().catch(() => undefined),
    });
  return (
    <Button size="small" loading={isPending} aria-label={t.refundOf(time)} onClick={confirm}>
      {t.refund}
    </Button>
  );
}

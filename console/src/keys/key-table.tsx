import { Table } from 'antd';
import type { Key } from '../api.ts';
import { useListFormat, useTexts } from '../language.ts';
import { permissionTexts } from '../ui/permission-texts.ts';
import { StatusTag } from '../ui/status-tag.tsx';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { KeyActions } from './key-actions.tsx';
import { daysLeft, getKeyState } from './key-values.ts';
import { keysTexts } from './texts.ts';

interface Props {
  rows: Key[];
  loading: boolean;
  onEdit: (key: Key) => void;
}

/** A table, or a list on phones. */
export function KeyTable({ rows, loading, onEdit }: Props) {
  const t = useTexts(keysTexts);
  const isPhone = useIsPhone();
  const renderActions = (key: Key) => <KeyActions apiKey={key} onEdit={() => onEdit(key)} />;
  if (isPhone)
    return (
      <ul className="keys-list" aria-busy={loading}>
        {rows.map((key) => (
          <li key={key.keyId}>
            <div className="keys-item">
              <KeyName apiKey={key} />
              {renderActions(key)}
            </div>
            <KeyStatus apiKey={key} />
            <div>
              <PermissionList apiKey={key} />
            </div>
            <div className="secondary">{key.expiresTime ? t.expiresAt(key.expiresTime) : t.never}</div>
            <div className="secondary">
              {key.lastUsedTime
                ? t.lastUsedAt([key.lastUsedTime, key.lastUsedAddress].filter(Boolean).join(' · '))
                : t.neverUsed}
            </div>
          </li>
        ))}
      </ul>
    );
  return (
    <Table<Key>
      className="keys-table"
      size="middle"
      rowKey="keyId"
      dataSource={rows}
      loading={loading}
      pagination={false}
      columns={[
        { key: 'name', title: t.name, render: (_, key) => <KeyName apiKey={key} /> },
        { key: 'permissions', title: t.permissions, width: '26%', render: (_, key) => <PermissionList apiKey={key} /> },
        { key: 'status', title: t.status, width: 130, render: (_, key) => <KeyStatus apiKey={key} /> },
        { key: 'expires', title: t.expires, width: 170, render: (_, { expiresTime }) => expiresTime ?? t.never },
        {
          key: 'lastUsed',
          title: t.lastUsed,
          width: 170,
          render: (_, { lastUsedTime, lastUsedAddress }) =>
            lastUsedTime ? (
              <>
                {lastUsedTime}
                <div className="secondary">{lastUsedAddress}</div>
              </>
            ) : (
              <span className="secondary">{t.neverUsed}</span>
            ),
        },
        { key: 'actions', title: t.actions, width: 120, align: 'end', render: (_, key) => renderActions(key) },
      ]}
    />
  );
}

function KeyName({ apiKey: { keyName, prefix } }: { apiKey: Key }) {
  return (
    <div className="keys-name">
      <strong>{keyName}</strong>
      <div className="secondary">
        <code>{prefix}…</code>
      </div>
    </div>
  );
}

function KeyStatus({ apiKey }: { apiKey: Key }) {
  const t = useTexts(keysTexts);
  switch (getKeyState(apiKey)) {
    case 'expired':
      return <StatusTag tone="error">{t.expired}</StatusTag>;
    case 'disabled':
      return <StatusTag>{t.disabled}</StatusTag>;
    case 'expiring':
      return <StatusTag tone="warning">{t.expiresSoon(daysLeft(apiKey.expiresTime ?? ''))}</StatusTag>;
    default:
      return <StatusTag tone="success">{t.normal}</StatusTag>;
  }
}

const MAX_PERMISSIONS = 4;

function PermissionList({ apiKey: { permissions, below } }: { apiKey: Key }) {
  const t = useTexts(keysTexts);
  const names = useTexts(permissionTexts) as Record<string, string>;
  const formatList = useListFormat();
  const shown = permissions.slice(0, MAX_PERMISSIONS).map((each) => names[each] ?? each);
  return (
    <>
      {formatList(shown)} {permissions.length > MAX_PERMISSIONS && t.morePermissions(permissions.length)}
      {below && <div className="secondary">{t.below}</div>}
    </>
  );
}

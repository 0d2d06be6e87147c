import { DownOutlined, MoreOutlined } from '@ant-design/icons';
import { Button, Dropdown, type MenuProps } from 'antd';
import { useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { api, type Tenant } from '../api.ts';
import { isRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useAction } from '../ui/action.ts';
import { useDialogs } from '../ui/dialogs.ts';
import { inDialog } from '../ui/in-dialog.ts';
import { useIsHere } from '../ui/is-here.ts';
import { newBelow } from './new-below.ts';
import { MoveDialog, StatusDialog } from './quick-dialogs.tsx';
import { tenantsTexts } from './texts.ts';

interface Menu {
  tenant: Tenant;
  /** In a row of the table: an icon, with all actions in the menu. */
  compact?: boolean;
}

/** What can be done with a tenant. With one's own: only something new below it. */
export function ActionMenu({ tenant, compact = false }: Menu) {
  const t = useTexts(tenantsTexts);
  const navigate = useNavigate();
  const own = useMe().tenant.id === tenant.id;
  const [dialog, setDialog] = useState<'move' | 'status'>();
  const button = useRef<HTMLButtonElement>(null);
  // The menu that opened a dialog is gone by now: the focus goes back to what opened the menu.
  const back = () => button.current?.focus();
  const { ask, busy } = useRemove(tenant, back);
  const close = () => {
    setDialog(undefined);
    back();
  };
  const name = tenant.tenantName || tenant.tenantId;
  const items: MenuProps['items'] = [
    ...(own ? [] : [{ key: 'edit', label: t.edit, onClick: () => navigate(`/tenants/${tenant.id}/edit`) }]),
    { key: 'new', label: t.createBelow, onClick: () => navigate(newBelow(tenant.tenantId)) },
    ...(own
      ? []
      : [
          { key: 'move', label: t.move, onClick: inDialog(() => setDialog('move')) },
          {
            key: 'status',
            label: tenant.status === '0' ? t.disable : t.enable,
            onClick: inDialog(() => setDialog('status')),
          },
          { type: 'divider' as const },
          { key: 'remove', label: t.remove, danger: true, onClick: inDialog(ask) },
        ]),
  ];
  return (
    <>
      <Dropdown autoFocus trigger={['click']} menu={{ items }} placement="bottomRight">
        {compact ? (
          <Button
            ref={button}
            type="text"
            loading={busy}
            icon={<MoreOutlined />}
            aria-label={t.moreOf(name)}
            aria-haspopup="menu"
          />
        ) : (
          <Button ref={button} loading={busy} aria-haspopup="menu" aria-label={t.moreOf(name)}>
            {t.more} <DownOutlined />
          </Button>
        )}
      </Dropdown>
      {dialog === 'move' && <MoveDialog tenant={tenant} close={close} />}
      {dialog === 'status' && <StatusDialog tenant={tenant} close={close} />}
    </>
  );
}

/** Asks first. Child tenants in the way are named, with the way to them. */
function useRemove(tenant: Tenant, back: () => void) {
  const t = useTexts(tenantsTexts);
  const dialogs = useDialogs();
  const isHere = useIsHere();
  const navigate = useNavigate();
  const name = tenant.tenantName || tenant.tenantId;
  const remove = useAction({
    run: () => api.deleteTenant(tenant.id),
    done: t.removed,
    changes: [['tenant-list'], ['tenant-tree'], ['overview']],
    after: () => isHere() && navigate('/tenants'),
    refused: (error) => {
      if (!isRefusal(error, 'TENANT_HAS_CHILDREN')) return false;
      void explain(error.message);
      return true;
    },
  });
  const explain = async (message: string) => {
    const { data } = await api
      .listTenants({ tenantParent: tenant.tenantId, pageSize: 5 })
      .catch(() => ({ data: { rows: [] as Tenant[], total: 0 } }));
    const { rows, total = 0 } = data;
    const leave = (to: string) => {
      shown.destroy();
      navigate(to);
    };
    const shown = dialogs.warning({
      title: t.hasChildren(name),
      closable: true,
      afterClose: back,
      content: (
        <>
          <p>{message}</p>
          <p>{t.hasChildrenHint}</p>
          <ul>
            {rows.map((child) => (
              <li key={child.id}>
                <Button type="link" size="small" onClick={() => leave(`/tenants/${child.id}`)}>
                  {child.tenantName || child.tenantId}
                </Button>
              </li>
            ))}
          </ul>
          {total > rows.length && <p>{t.andMore(total)}</p>}
        </>
      ),
      footer: (
        <div className="actions">
          <Button onClick={() => shown.destroy()}>{t.close}</Button>
          <Button type="primary" onClick={() => leave(`/tenants?parent=${tenant.tenantId}`)}>
            {t.showChildren}
          </Button>
        </div>
      ),
    });
  };
  const ask = () =>
    dialogs.confirm({
      title: t.removeAsk(name),
      content: t.removeHint,
      okText: t.remove,
      afterClose: back,
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      // Closed either way: a refusal has its own dialog, with more to say.
      onOk: () => remove.run(undefined).catch(() => undefined),
    });
  return { ask, busy: remove.busy };
}

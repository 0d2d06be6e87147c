import { DownOutlined, MoreOutlined } from '@ant-design/icons';
import { useQueryClient } from '@tanstack/react-query';
import { Button, Dropdown, type MenuProps } from 'antd';
import { Suspense, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { api, type ListedTenant } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { openFromMenu } from '../ui/open-from-menu.ts';
import { RenewDialog, UserLimitDialog } from '../ui/tenant-buttons.tsx';
import { tenantTexts } from '../ui/tenant-texts.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useDialogs } from '../ui/use-dialogs.ts';
import { useIsMounted } from '../ui/use-is-mounted.ts';
import { newTenantPath } from './new-tenant-path.ts';
import { MoveDialog, StatusDialog } from './tenant-dialogs.tsx';
import { tenantsTexts } from './texts.ts';

interface Props {
  tenant: ListedTenant;
  /** An icon button, for table rows. */
  compact?: boolean;
  /** Called after the tenant was deleted, if the menu is still shown. */
  onDeleted?: () => void;
}

/** The actions for a tenant. The current tenant cannot be edited here; its menu contains only "new child tenant". */
export function ActionMenu({ tenant, compact = false, onDeleted }: Props) {
  const t = useTexts(tenantsTexts);
  const { renew, changeUserLimit } = useTexts(tenantTexts);
  const navigate = useNavigate();
  const isOwn = useMe().tenant.id === tenant.id;
  const [dialog, setDialog] = useState<'renew' | 'userLimit' | 'move' | 'status'>();
  const button = useRef<HTMLButtonElement>(null);
  // The menu item that opened the dialog is no longer in the page, so return the focus to the menu button.
  const restoreFocus = () => button.current?.focus();
  const { confirmDelete, isPending } = useDeleteTenant({ tenant, onDeleted, restoreFocus });
  const closeDialog = () => {
    setDialog(undefined);
    restoreFocus();
  };
  const name = tenant.tenantName || tenant.tenantId;
  const items: MenuProps['items'] = [
    ...(isOwn
      ? []
      : [
          { key: 'edit', label: t.edit, onClick: () => navigate(`/tenants/${tenant.id}/edit`) },
          { key: 'renew', label: renew, onClick: openFromMenu(() => setDialog('renew')) },
          { key: 'userLimit', label: changeUserLimit, onClick: openFromMenu(() => setDialog('userLimit')) },
        ]),
    { key: 'new', label: t.createChild, onClick: () => navigate(newTenantPath(tenant.tenantId)) },
    ...(isOwn
      ? []
      : [
          {
            key: 'importDepartments',
            label: t.importDepartments,
            onClick: () => navigate(`/import/departments?tenantId=${tenant.tenantId}`),
          },
          {
            key: 'importPeople',
            label: t.importPeople,
            onClick: () => navigate(`/import/people?tenantId=${tenant.tenantId}`),
          },
          { key: 'move', label: t.move, onClick: openFromMenu(() => setDialog('move')) },
          {
            key: 'status',
            label: tenant.status === '0' ? t.disable : t.enable,
            onClick: openFromMenu(() => setDialog('status')),
          },
          { type: 'divider' as const },
          { key: 'remove', label: t.delete, danger: true, onClick: openFromMenu(confirmDelete) },
        ]),
  ];
  return (
    <>
      <Dropdown autoFocus trigger={['click']} menu={{ items }} placement="bottomRight">
        {compact ? (
          <Button
            ref={button}
            type="text"
            size="small"
            loading={isPending}
            icon={<MoreOutlined />}
            aria-label={t.moreOf(name)}
            aria-haspopup="menu"
          />
        ) : (
          <Button ref={button} loading={isPending} aria-haspopup="menu" aria-label={t.moreOf(name)}>
            {t.more} <DownOutlined />
          </Button>
        )}
      </Dropdown>
      <Suspense>
        {dialog === 'renew' && <RenewDialog tenant={tenant} onClose={closeDialog} />}
        {dialog === 'userLimit' && <UserLimitDialog tenant={tenant} onClose={closeDialog} />}
      </Suspense>
      {dialog === 'move' && <MoveDialog tenant={tenant} onClose={closeDialog} />}
      {dialog === 'status' && <StatusDialog tenant={tenant} onClose={closeDialog} />}
    </>
  );
}

interface DeletionOptions {
  tenant: ListedTenant;
  onDeleted: (() => void) | undefined;
  restoreFocus: () => void;
}

/** Asks for confirmation. If the tenant has children, it shows them with links. */
function useDeleteTenant({ tenant, onDeleted, restoreFocus }: DeletionOptions) {
  const t = useTexts(tenantsTexts);
  const dialogs = useDialogs();
  const isMounted = useIsMounted();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const name = tenant.tenantName || tenant.tenantId;
  const deletion = useApiMutation({
    mutationFn: () => api.deleteTenant(tenant.id),
    successMessage: t.deleted,
    invalidates: affectedBy.tenantLists,
    onSuccess: () => {
      // Refetch the tenant when the user opens its screen again, but not while the screen is still open.
      void queryClient.invalidateQueries({ queryKey: queryKeys.tenants.detail(tenant.id), refetchType: 'none' });
      if (isMounted()) onDeleted?.();
    },
    onError: (error) => {
      if (!isApiError(error, 'TENANT_HAS_CHILDREN')) return false;
      void showChildren(error.message);
      return true;
    },
  });
  const showChildren = async (message: string) => {
    const { data } = await api
      .listTenants({ tenantParent: tenant.tenantId, pageSize: 5 })
      .catch(() => ({ data: { rows: [] as ListedTenant[], total: 0 } }));
    const { rows, total = 0 } = data;
    const closeAndOpen = (to: string) => {
      dialog.destroy();
      navigate(to);
    };
    const dialog = dialogs.warning({
      title: t.hasChildren(name),
      closable: true,
      afterClose: restoreFocus,
      content: (
        <>
          <p>{message}</p>
          <p>{t.hasChildrenHint}</p>
          <ul>
            {rows.map((child) => (
              <li key={child.id}>
                <Button type="link" size="small" onClick={() => closeAndOpen(`/tenants/${child.id}`)}>
                  {child.tenantName || child.tenantId}
                </Button>
              </li>
            ))}
          </ul>
          {total > rows.length && <p>{t.andMore(total)}</p>}
        </>
      ),
      footer: (
        <div className="form-actions">
          <Button onClick={() => dialog.destroy()}>{t.close}</Button>
          <Button type="primary" autoFocus onClick={() => closeAndOpen(`/tenants?parent=${tenant.tenantId}`)}>
            {t.showChildren}
          </Button>
        </div>
      ),
    });
  };
  const confirmDelete = () =>
    dialogs.confirm({
      title: t.deleteTitle(name),
      content: t.deleteHint,
      okText: t.delete,
      afterClose: restoreFocus,
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      // Close the dialog in any case: showChildren opens another one.
      onOk: () => deletion.mutateAsync(undefined).catch(() => undefined),
    });
  return { confirmDelete, isPending: deletion.isPending };
}

import { DeleteOutlined, DownloadOutlined, ImportOutlined, MoreOutlined } from '@ant-design/icons';
import { Button, Dropdown } from 'antd';
import type { ReactNode } from 'react';
import { Link, useNavigate } from 'react-router';
import { useTexts } from '../language.ts';
import { ExportButton, type ExportFile, useExport } from './export-button.tsx';
import type { Restorable } from './restore-record.ts';
import { uiTexts } from './texts.ts';
import { useIsPhone } from './use-is-phone.ts';

interface Props {
  /** The kind of record that the list shows. */
  kind: Restorable;
  /** The tenant of the records. Default: the user's own. */
  tenantId?: string | undefined;
  exportFile: ExportFile;
  /** The path of the screen that imports such records. */
  importPath?: string;
  /** The button for a new record. */
  children: ReactNode;
}

/** The actions above a list. On phones, the button for a new record is followed by a menu with the others. */
export function ListActions({ children, ...props }: Props) {
  return useIsPhone() ? (
    <>
      {children}
      <Menu {...props} />
    </>
  ) : (
    <>
      <Buttons {...props} />
      {children}
    </>
  );
}

type ActionProps = Omit<Props, 'children'>;

const withTenant = (path: string, tenantId: string | undefined) => (tenantId ? `${path}?tenantId=${tenantId}` : path);

function Buttons({ kind, tenantId, exportFile, importPath }: ActionProps) {
  const t = useTexts(uiTexts);
  const navigate = useNavigate();
  return (
    <>
      <Link to={withTenant(`/deleted/${kind}`, tenantId)}>
        <DeleteOutlined aria-hidden /> {t.deleted}
      </Link>
      <ExportButton exportFile={exportFile} />
      {importPath && (
        <Button icon={<ImportOutlined />} onClick={() => navigate(withTenant(importPath, tenantId))}>
          {t.import}
        </Button>
      )}
    </>
  );
}

function Menu({ kind, tenantId, exportFile, importPath }: ActionProps) {
  const t = useTexts(uiTexts);
  const navigate = useNavigate();
  const { items: formats, isPending } = useExport(exportFile);
  const items = [
    ...(importPath
      ? [
          {
            key: 'import',
            icon: <ImportOutlined />,
            label: t.import,
            onClick: () => navigate(withTenant(importPath, tenantId)),
          },
        ]
      : []),
    ...formats.map((format) => ({ ...format, icon: <DownloadOutlined />, label: `${t.export} ${format.label}` })),
    {
      key: 'deleted',
      icon: <DeleteOutlined />,
      label: t.deleted,
      onClick: () => navigate(withTenant(`/deleted/${kind}`, tenantId)),
    },
  ];
  return (
    <Dropdown autoFocus trigger={['click']} menu={{ items }} placement="bottomRight">
      <Button icon={<MoreOutlined />} loading={isPending} aria-label={t.moreActions} aria-haspopup="menu" />
    </Dropdown>
  );
}

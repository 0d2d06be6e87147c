import { DownloadOutlined } from '@ant-design/icons';
import { Button, Dropdown } from 'antd';
import type { DownloadedFile, Format } from '../api.ts';
import { useTexts } from '../language.ts';
import { saveFile } from './save-file.ts';
import { uiTexts } from './texts.ts';
import { useApiMutation } from './use-api-mutation.ts';

export type ExportFile = (format: Format) => Promise<DownloadedFile>;

/** Returns a menu item for each format. It exports what a list shows, all pages of it. */
export function useExport(exportFile: ExportFile) {
  const t = useTexts(uiTexts);
  const { mutate, isPending } = useApiMutation({
    mutationFn: exportFile,
    successMessage: ({ name }) => t.exported(name),
    onSuccess: ({ blob, name }) => saveFile(blob, name),
  });
  const items = [
    { key: 'xlsx', label: t.exportXlsx, onClick: () => mutate('xlsx') },
    { key: 'csv', label: t.exportCsv, onClick: () => mutate('csv') },
  ];
  return { items, isPending };
}

export function ExportButton({ exportFile }: { exportFile: ExportFile }) {
  const t = useTexts(uiTexts);
  const { items, isPending } = useExport(exportFile);
  return (
    <Dropdown autoFocus trigger={['click']} menu={{ items }} placement="bottomRight">
      <Button icon={<DownloadOutlined />} loading={isPending}>
        {t.export}
      </Button>
    </Dropdown>
  );
}

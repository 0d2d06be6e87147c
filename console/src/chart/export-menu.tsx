import { DownloadOutlined } from '@ant-design/icons';
import { App, Button, Dropdown } from 'antd';
import { useEffect, useState } from 'react';
import { createPortal, flushSync } from 'react-dom';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useNotify } from '../ui/use-notify.ts';
import type { ChartData } from './chart-data.ts';
import {
  Drawing,
  type ExportSource,
  exportPdf,
  exportPng,
  exportSvg,
  ImageError,
  ImageTooLargeError,
} from './export.tsx';
import type { Layout } from './layout.ts';
import { chartTexts } from './texts.ts';

/** Exports and prints the expanded part of the chart, whether it is in view or not. */
export function ExportMenu({ chart, layout }: { chart: ChartData; layout: Layout }) {
  const t = useTexts(chartTexts);
  const { tenant } = useMe();
  const notify = useNotify();
  const { notification } = App.useApp();
  const warn = (text: string) => notification.warning({ title: text, role: 'alert', duration: 8 });
  const [isExporting, setIsExporting] = useState(false);
  const title = chart.cards.get(chart.root)?.name || tenant.tenantName || t.title;
  const source = { chart, layout, title, t };
  const runExport = async (exportFile: () => string | Promise<string>) => {
    setIsExporting(true);
    try {
      notify.success(t.exported(await exportFile()));
    } catch (error) {
      if (error instanceof ImageTooLargeError) warn(t.imageTooLarge);
      else if (error instanceof ImageError) warn(t.imageFailed);
      else notify.error(error);
    }
    setIsExporting(false);
  };
  const items = [
    { key: 'png', label: t.exportPng, onClick: () => runExport(() => exportPng(source)) },
    { key: 'svg', label: t.exportSvg, onClick: () => runExport(() => exportSvg(source)) },
    { key: 'a4', label: t.exportPdf('A4'), onClick: () => runExport(() => exportPdf(source, 'A4')) },
    { key: 'a3', label: t.exportPdf('A3'), onClick: () => runExport(() => exportPdf(source, 'A3')) },
    { type: 'divider' as const },
    { key: 'print', label: t.print, onClick: () => window.print() },
  ];
  return (
    <>
      <Dropdown autoFocus trigger={['click']} menu={{ items }} placement="bottomRight">
        <Button icon={<DownloadOutlined />} loading={isExporting} aria-haspopup="menu">
          {t.export}
        </Button>
      </Dropdown>
      <PrintedChart source={source} />
    </>
  );
}

/** Replaces the screen while it is printed, even if the user prints from the menu of the browser. */
function PrintedChart({ source }: { source: ExportSource }) {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    // The browser takes the page as it is after this event.
    const start = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    window.addEventListener('beforeprint', start);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', start);
      window.removeEventListener('afterprint', end);
    };
  }, []);
  if (!isPrinting) return null;
  return createPortal(
    <div className="chart-print">
      <Drawing {...source} />
    </div>,
    document.body,
  );
}

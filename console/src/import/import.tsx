import { ArrowLeftOutlined, DownloadOutlined, InboxOutlined } from '@ant-design/icons';
import { Alert, Button, Progress, Upload } from 'antd';
import { useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { api, type ImportKind, type ImportPreview, type ImportResult } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import { Card } from '../ui/card.tsx';
import { ChildTenantNotice } from '../ui/child-tenant-notice.tsx';
import { LeaveGuard } from '../ui/leave-guard.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { useTenantsByCode } from '../ui/record-names.ts';
import { saveFile } from '../ui/save-file.ts';
import { Loading } from '../ui/states.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useTenantParam } from '../ui/use-tenant-param.ts';
import { Counts } from './counts.tsx';
import { PreviewTable } from './preview-table.tsx';
import { readResult } from './read-result.ts';
import { Result } from './result.tsx';
import { importTexts } from './texts.ts';
import './import.css';

/** Imports departments or people: choose a file, look at the preview, import, and undo it if need be. */
export default function Import() {
  const t = useTexts(importTexts);
  const navigate = useNavigate();
  const kind = useLocation().pathname.includes('/people') ? 'people' : 'departments';
  const tenantId = useTenantParam();
  const childTenant = useTenantsByCode([tenantId ?? null]).get(tenantId ?? '');
  const scope = tenantId ? `?tenantId=${tenantId}` : '';
  // The departments of a child tenant have no screen, so Back leads to the page of the tenant.
  const path = tenantId && kind === 'departments' ? `/tenants/${childTenant?.id ?? ''}` : `/${kind}${scope}`;
  return (
    <AdministratorsOnly title={t[kind]}>
      <PageTitle title={t[kind]}>
        <Button icon={<ArrowLeftOutlined />} onClick={() => navigate(path)}>
          {t.back}
        </Button>
      </PageTitle>
      {tenantId && <ChildTenantNotice tenantId={tenantId} title={t.tenantNotice} />}
      <ImportContent key={`${kind} ${tenantId}`} kind={kind} tenantId={tenantId} />
    </AdministratorsOnly>
  );
}

function ImportContent({ kind, tenantId }: { kind: ImportKind; tenantId: string | undefined }) {
  const t = useTexts(importTexts);
  const [chosen, setChosen] = useState<{ file: File; preview: ImportPreview }>();
  const [percent, setPercent] = useState(0);
  const [result, setResult] = useState<ImportResult>();
  const check = useApiMutation({
    mutationFn: async (file: File) => ({ file, preview: await api.previewImport(kind, file, { tenantId }) }),
    onSuccess: setChosen,
  });
  const apply = useApiMutation({
    mutationFn: async (file: File) => {
      setPercent(0);
      return readResult(await api.applyImport(kind, file, { tenantId }), setPercent);
    },
    invalidates: affectedBy.revert,
    onSuccess: setResult,
  });
  const template = useApiMutation({
    mutationFn: () => api.readImportTemplate(kind),
    onSuccess: ({ blob, name }) => saveFile(blob, name),
  });
  const errors = useApiMutation({
    mutationFn: (file: File) => api.readImportErrors(kind, file, { tenantId }),
    onSuccess: ({ blob, name }) => saveFile(blob, name),
  });
  const restart = () => {
    setChosen(undefined);
    setResult(undefined);
  };
  if (result) return <Result result={result} tenantId={tenantId} onAnother={restart} />;
  if (apply.isPending)
    return (
      <Card aria-label={t.progress}>
        <LeaveGuard title={t.leaveTitle} hint={t.leaveHint} />
        <p role="status">{t.importing}</p>
        <Progress percent={percent} aria-label={t.progress} />
      </Card>
    );
  if (!chosen)
    return (
      <Card aria-label={t.chooseFile}>
        <Upload.Dragger
          accept=".xlsx,.csv"
          showUploadList={false}
          disabled={check.isPending}
          beforeUpload={(file) => {
            check.mutate(file);
            return false;
          }}
        >
          <p className="ant-upload-drag-icon">
            <InboxOutlined />
          </p>
          <p className="ant-upload-text">{check.isPending ? t.checking : t.chooseFile}</p>
          <p className="ant-upload-hint">{t.fileHint}</p>
        </Upload.Dragger>
        {check.isPending && <Loading />}
        <div className="form-actions">
          <Button icon={<DownloadOutlined />} loading={template.isPending} onClick={() => template.mutate()}>
            {t.template}
          </Button>
        </div>
      </Card>
    );
  const { file, preview } = chosen;
  const hasNothingToImport = preview.created + preview.changed + preview.moved === 0;
  return (
    <Card title={t.preview(file.name)} extra={<Button onClick={restart}>{t.otherFile}</Button>}>
      <Counts counts={preview} />
      {preview.invalid > 0 && (
        <Alert
          type="error"
          showIcon
          role="alert"
          title={t.hasErrors(preview.invalid)}
          className="margin-bottom"
          action={
            <Button
              size="small"
              icon={<DownloadOutlined />}
              loading={errors.isPending}
              onClick={() => errors.mutate(file)}
            >
              {t.downloadErrors}
            </Button>
          }
        />
      )}
      {!preview.hasHeader && <Alert type="warning" showIcon title={t.noHeader} className="margin-bottom" />}
      {preview.invalid === 0 && hasNothingToImport && (
        <Alert type="info" showIcon title={t.nothing} className="margin-bottom" />
      )}
      {preview.table.length < preview.rows && <p className="secondary">{t.onlyFirst(preview.table.length)}</p>}
      <PreviewTable preview={preview} />
      <div className="form-actions">
        <Button type="primary" disabled={preview.invalid > 0 || hasNothingToImport} onClick={() => apply.mutate(file)}>
          {t.apply}
        </Button>
      </div>
    </Card>
  );
}

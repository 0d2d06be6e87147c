import { DownloadOutlined, ReloadOutlined } from '@ant-design/icons';
import { Alert, App, Button, Select } from 'antd';
import { useMemo, useState } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import { useTexts } from '../language.ts';
import { useIsAdministrator, useMe } from '../session.ts';
import { useNotices } from '../ui/notices.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Canvas } from './canvas.tsx';
import { FindRoot } from './find-root.tsx';
import { type Layout, layOut } from './layout.ts';
import { Path } from './path.tsx';
import { branchOf, type Picture, TENANT } from './picture.ts';
import { NotDrawn, savePng, saveSvg, TooLarge } from './save.tsx';
import { Selected } from './selected.tsx';
import { chartTexts } from './texts.ts';
import { usePicture } from './use-picture.ts';
import './chart.css';

const LEVELS = ['1', '2', '3', '4', '5'];
const levelsOf = (text: string | null) =>
  text === 'all' ? Number.POSITIVE_INFINITY : LEVELS.includes(text ?? '') ? Number(text) : undefined;

/** /chart/:id begins with that department, /chart shows all of them; ?levels= says how much of it is open at first. */
export default function Chart() {
  const t = useTexts(chartTexts);
  const { id: root = TENANT } = useParams();
  const [search, setSearch] = useSearchParams();
  const levels = levelsOf(search.get('levels'));
  const { data: picture, error, refetch, isFetching, isPlaceholderData, busy, toggle } = usePicture(root, levels);
  const [active, activate] = useState<string>();
  const navigate = useNavigate();
  const layout = useMemo(() => picture && layOut(branchOf(picture)), [picture]);
  const isEmpty = picture?.root === TENANT && picture.cards.size === 1;
  const begin = (id: string) => {
    activate(undefined);
    navigate({ pathname: `/chart/${id}`, search: search.toString() });
  };
  return (
    <div className="chart">
      <PageTitle title={t.title}>
        <FindRoot choose={begin} />
        <Select
          className="chart-levels"
          aria-label={t.levels}
          value={LEVELS.includes(search.get('levels') ?? '') || levels ? (search.get('levels') as string) : '3'}
          options={[
            ...LEVELS.map((value) => ({ value, label: t.level(Number(value)) })),
            { value: 'all', label: t.all },
          ]}
          onChange={(value) => setSearch({ levels: value }, { replace: true })}
        />
        <Button
          aria-label={t.reload}
          title={t.reload}
          icon={<ReloadOutlined />}
          loading={isFetching && picture !== undefined}
          onClick={() => refetch()}
        />
        {picture && layout && !isEmpty && <Saving picture={picture} layout={layout} />}
      </PageTitle>
      {root !== TENANT && <Path id={root} />}
      {picture?.cut && levels !== undefined && !isPlaceholderData && (
        <Alert type="info" showIcon className="gap-below" title={t.cut(picture.cards.size)} />
      )}
      <div className={isPlaceholderData ? 'chart-stage chart-passing' : 'chart-stage'}>
        {error && !picture ? (
          <>
            <Failed error={error} retry={refetch} />
            {root !== TENANT && <Link to="/chart">{t.whole}</Link>}
          </>
        ) : !picture || !layout ? (
          <Loading />
        ) : isEmpty ? (
          <NoDepartments />
        ) : (
          <>
            <Canvas
              {...{ picture, layout, active, activate, busy, toggle }}
              openDept={(id) => id !== TENANT && navigate(`/departments/${id}`)}
            />
            <Selected {...{ picture, active, activate, busy, toggle }} begin={begin} />
          </>
        )}
      </div>
      {layout && !isEmpty && <p className="chart-keys quiet">{t.keys}</p>}
    </div>
  );
}

function NoDepartments() {
  const t = useTexts(chartTexts);
  return <Empty text={t.none}>{useIsAdministrator() && <Link to="/departments">{t.toDepartments}</Link>}</Empty>;
}

function Saving({ picture, layout }: { picture: Picture; layout: Layout }) {
  const t = useTexts(chartTexts);
  const { tenant } = useMe();
  const notices = useNotices();
  const { notification } = App.useApp();
  const warn = (text: string) => notification.warning({ title: text, role: 'alert', duration: 8 });
  const [busy, setBusy] = useState(false);
  const title = picture.cards.get(picture.root)?.name || tenant.tenantName || t.title;
  const sheet = { picture, layout, title, t };
  const save = async (how: () => string | Promise<string>) => {
    setBusy(true);
    try {
      notices.done(t.saved(await how()));
    } catch (error) {
      if (error instanceof TooLarge) warn(t.tooLarge);
      else if (error instanceof NotDrawn) warn(t.notDrawn);
      else notices.failed(error);
    }
    setBusy(false);
  };
  return (
    <>
      <Button aria-label={t.saveSvg} icon={<DownloadOutlined />} onClick={() => save(() => saveSvg(sheet))}>
        SVG
      </Button>
      <Button
        aria-label={t.savePng}
        icon={<DownloadOutlined />}
        loading={busy}
        onClick={() => save(() => savePng(sheet))}
      >
        PNG
      </Button>
    </>
  );
}

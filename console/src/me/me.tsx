import { useQuery } from '@tanstack/react-query';
import { Segmented } from 'antd';
import { api } from '../api.ts';
import { setLanguage, useLanguage, useListFormat, useTexts } from '../language.ts';
import { liveUpdates } from '../live.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { useStore } from '../store.ts';
import { type ThemeMode, themeMode } from '../theme.ts';
import { Card } from '../ui/card.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { PasswordForm } from '../ui/password-form.tsx';
import { Sessions } from './sessions.tsx';
import { meTexts } from './texts.ts';

export default function Me() {
  const t = useTexts(meTexts);
  const formatList = useListFormat();
  const { user, tenant, roles } = useMe();
  const { data: service } = useQuery({
    queryKey: queryKeys.version,
    queryFn: ({ signal }) => api.readVersion(signal),
  });
  return (
    <div className="stack narrow-content">
      <PageTitle title={t.title} />
      <Card>
        <DescriptionList
          items={[
            { label: t.user, value: user.userName },
            { label: t.name, value: user.nickName },
            { label: t.tenant, value: `${tenant.tenantName ?? ''} ${tenant.tenantId}`.trim() },
            { label: t.roles, value: formatList(roles.map((role) => t[role])) },
            { label: t.version, value: service?.data.version ?? '' },
          ]}
        />
      </Card>
      <Card title={t.appearance}>
        <DisplaySettings />
      </Card>
      <Card title={t.password}>
        <PasswordForm userName={user.userName} />
      </Card>
      <Sessions />
    </div>
  );
}

function DisplaySettings() {
  const t = useTexts(meTexts);
  const language = useLanguage();
  const mode = useStore(themeMode);
  const live = useStore(liveUpdates);
  return (
    <div className="settings-grid">
      <span id="choose-language">{t.language}</span>
      <Segmented
        aria-labelledby="choose-language"
        name="language"
        value={language}
        onChange={setLanguage}
        options={[
          { value: 'zh', label: <span lang="zh-CN">中文</span> },
          { value: 'en', label: <span lang="en">English</span> },
        ]}
      />
      <span id="choose-theme">{t.theme}</span>
      <Segmented<ThemeMode>
        aria-labelledby="choose-theme"
        name="theme"
        value={mode}
        onChange={themeMode.set}
        options={(['light', 'dark', 'system'] as const).map((value) => ({ value, label: t[value] }))}
      />
      <span id="choose-live">{t.live}</span>
      <Segmented<'on' | 'off'>
        aria-labelledby="choose-live"
        name="live"
        value={live}
        onChange={liveUpdates.set}
        options={(['on', 'off'] as const).map((value) => ({ value, label: t[value] }))}
      />
    </div>
  );
}

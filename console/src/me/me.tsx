import { Card, Descriptions, Segmented } from 'antd';
import { chooseLanguage, useLanguage, useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useStore } from '../store.ts';
import { type Lightness, lightness } from '../theme.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { PasswordForm } from './password-form.tsx';
import { Sessions } from './sessions.tsx';
import { meTexts } from './texts.ts';

export default function Me() {
  const t = useTexts(meTexts);
  const { user, tenant, roles } = useMe();
  return (
    <div className="cards narrow">
      <PageTitle title={t.title} />
      <Card>
        <Descriptions
          colon={false}
          column={{ xs: 1, sm: 2 }}
          items={[
            { key: 'user', label: t.user, children: user.userName },
            { key: 'name', label: t.name, children: user.nickName || '—' },
            { key: 'tenant', label: t.tenant, children: `${tenant.tenantName ?? ''} ${tenant.tenantId}`.trim() },
            { key: 'roles', label: t.roles, children: roles.map((role) => t[role]).join(', ') },
          ]}
        />
      </Card>
      <Card title={<h2>{t.appearance}</h2>}>
        <Display />
      </Card>
      <Card title={<h2>{t.password}</h2>}>
        <PasswordForm />
      </Card>
      <Sessions />
    </div>
  );
}

function Display() {
  const t = useTexts(meTexts);
  const language = useLanguage();
  const chosen = useStore(lightness);
  return (
    <div className="choices">
      <span id="choose-language">{t.language}</span>
      <Segmented
        aria-labelledby="choose-language"
        name="language"
        value={language}
        onChange={chooseLanguage}
        options={[
          { value: 'zh', label: <span lang="zh-CN">中文</span> },
          { value: 'en', label: <span lang="en">English</span> },
        ]}
      />
      <span id="choose-theme">{t.theme}</span>
      <Segmented<Lightness>
        aria-labelledby="choose-theme"
        name="theme"
        value={chosen}
        onChange={lightness.set}
        options={(['light', 'dark', 'system'] as const).map((value) => ({ value, label: t[value] }))}
      />
    </div>
  );
}

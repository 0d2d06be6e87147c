import { QueryClientProvider } from '@tanstack/react-query';
import { App as AntApp, ConfigProvider } from 'antd';
import enUS from 'antd/locale/en_US';
import zhCN from 'antd/locale/zh_CN';
import dayjs from 'dayjs';
import 'dayjs/locale/zh-cn';
import { useEffect } from 'react';
import { RouterProvider } from 'react-router/dom';
import { useLanguage } from './language.ts';
import { queries } from './queries.ts';
import { router } from './routes.tsx';
import { themeOf, useIsDark, useIsStill } from './theme.ts';
import { Connection } from './ui/connection.tsx';

/** The service writes it into the page for antd's style sheets; the policy lets no others in. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

export function App() {
  const language = useLanguage();
  const dark = useIsDark();
  const still = useIsStill();
  dayjs.locale(language === 'zh' ? 'zh-cn' : 'en');
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  }, [language, dark]);
  return (
    <ConfigProvider
      locale={language === 'zh' ? zhCN : enUS}
      theme={themeOf(dark, still)}
      csp={{ nonce }}
      wave={{ disabled: still }}
      button={{ autoInsertSpace: false }}
      form={{ scrollToFirstError: { focus: true } }}
    >
      <AntApp className="app" message={{ maxCount: 3 }} notification={{ placement: 'topRight' }}>
        <QueryClientProvider client={queries}>
          <Connection />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </AntApp>
    </ConfigProvider>
  );
}

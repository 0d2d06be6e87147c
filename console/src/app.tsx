import { QueryClientProvider } from '@tanstack/react-query';
import { App as AntApp, ConfigProvider } from 'antd';
import enUS from 'antd/locale/en_US';
import zhCN from 'antd/locale/zh_CN';
import dayjs from 'dayjs';
import 'dayjs/locale/zh-cn';
import { useEffect, useLayoutEffect } from 'react';
import { RouterProvider } from 'react-router/dom';
import { useLanguage } from './language.ts';
import { queryClient } from './query-client.ts';
import { router } from './routes.tsx';
import { applyTheme, createTheme, useIsDark, usePrefersReducedMotion } from './theme.ts';
import { ConnectionBanner } from './ui/connection-banner.tsx';

/** The service writes the CSP nonce into the page; antd adds it to the style sheets that it creates. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

export function App() {
  const language = useLanguage();
  const dark = useIsDark();
  const reducedMotion = usePrefersReducedMotion();
  dayjs.locale(language === 'zh' ? 'zh-cn' : 'en');
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  }, [language]);
  useLayoutEffect(() => applyTheme(dark), [dark]);
  return (
    <ConfigProvider
      locale={language === 'zh' ? zhCN : enUS}
      theme={createTheme(dark, reducedMotion)}
      csp={{ nonce }}
      wave={{ disabled: reducedMotion }}
      button={{ autoInsertSpace: false }}
      form={{ scrollToFirstError: { focus: true } }}
    >
      <AntApp className="app" message={{ maxCount: 3 }} notification={{ placement: 'topRight' }}>
        <QueryClientProvider client={queryClient}>
          <ConnectionBanner />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </AntApp>
    </ConfigProvider>
  );
}

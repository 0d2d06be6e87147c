import { type ThemeConfig, theme } from 'antd';
import { keptStore, store, useStore } from './store.ts';

export type Lightness = 'light' | 'dark' | 'system';

export const lightness = keptStore<Lightness>('banyan.theme', ['light', 'dark', 'system'], () => 'system');

/** What the person told the system, also when it changes. */
function told(query: string) {
  const media = window.matchMedia(query);
  const isSo = store(media.matches);
  media.addEventListener('change', () => isSo.set(media.matches));
  return isSo;
}

const systemIsDark = told('(prefers-color-scheme: dark)');
const systemIsStill = told('(prefers-reduced-motion: reduce)');

export function useIsDark(): boolean {
  const chosen = useStore(lightness);
  const system = useStore(systemIsDark);
  return chosen === 'system' ? system : chosen === 'dark';
}

/** Motion makes some people ill: who asked for little of it gets none. */
export const useIsStill = () => useStore(systemIsStill);

/** The same colours are in ui/styles.css, for what antd does not draw. */
export const themeOf = (dark: boolean, still: boolean): ThemeConfig => ({
  algorithm: dark ? theme.darkAlgorithm : theme.defaultAlgorithm,
  token: {
    motion: !still,
    colorPrimary: dark ? '#4fb97c' : '#2b7a4b',
    colorLink: dark ? '#6cc492' : '#23693f',
    colorInfo: dark ? '#4fb97c' : '#2b7a4b',
    // antd's own pale shades of a dark green are grey.
    colorPrimaryBg: dark ? '#1d3327' : '#e6f2ea',
    colorPrimaryBgHover: dark ? '#24402f' : '#d6eadd',
    colorPrimaryBorder: dark ? '#2f5e43' : '#a9d3ba',
    colorInfoBg: dark ? '#1d3327' : '#eef6f1',
    colorInfoBorder: dark ? '#2f5e43' : '#b9dbc7',
    colorBgLayout: dark ? '#101412' : '#f5f7f5',
    colorBgContainer: dark ? '#181d1a' : '#ffffff',
    colorBgElevated: dark ? '#202622' : '#ffffff',
    // antd's own greys are too faint to read for many: 4.5 to 1 at least.
    colorTextTertiary: dark ? 'rgba(255,255,255,0.62)' : 'rgba(0,0,0,0.60)',
    colorTextDescription: dark ? 'rgba(255,255,255,0.62)' : 'rgba(0,0,0,0.60)',
    colorTextPlaceholder: dark ? 'rgba(255,255,255,0.55)' : 'rgba(0,0,0,0.56)',
    colorError: dark ? '#ff7875' : '#cf1322',
    // Lighter than these, what the pointer is on could hardly be read.
    colorPrimaryHover: dark ? '#6cc492' : '#23693f',
    colorLinkHover: dark ? '#8ad3aa' : '#1a5231',
    borderRadius: 8,
    fontFamily:
      "system-ui, -apple-system, 'Segoe UI', Roboto, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Noto Sans', sans-serif",
  },
  components: {
    Table: {
      rowSelectedBg: dark ? '#1a2720' : '#f4f9f6',
      rowSelectedHoverBg: dark ? '#1c2c23' : '#eef6f1',
    },
    // White on the dark theme's green would be too faint.
    Button: dark ? { primaryColor: '#06170d' } : {},
  },
});

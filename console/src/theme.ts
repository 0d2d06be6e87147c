import { type ThemeConfig, theme } from 'antd';
import { createMediaQueryStore, createPersistedStore, useStore } from './store.ts';

export type ThemeMode = 'light' | 'dark' | 'system';

export const themeMode = createPersistedStore<ThemeMode>('banyan.theme', ['light', 'dark', 'system'], () => 'system');

const prefersDark = createMediaQueryStore('(prefers-color-scheme: dark)');
const prefersReducedMotion = createMediaQueryStore('(prefers-reduced-motion: reduce)');

export function useIsDark(): boolean {
  const mode = useStore(themeMode);
  const systemIsDark = useStore(prefersDark);
  return mode === 'system' ? systemIsDark : mode === 'dark';
}

export const usePrefersReducedMotion = () => useStore(prefersReducedMotion);

export const FONT_FAMILY =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Noto Sans', sans-serif";

/** The colours of both themes. Text colours have a contrast of at least 4.5:1 on their background. */
const PALETTES = {
  light: {
    'bg-layout': '#f5f7f5',
    'bg-container': '#ffffff',
    'bg-elevated': '#ffffff',
    border: '#e3e8e4',
    text: 'rgba(0, 0, 0, 0.88)',
    'text-secondary': 'rgba(0, 0, 0, 0.6)',
    placeholder: 'rgba(0, 0, 0, 0.56)',
    primary: '#2b7a4b',
    'primary-text': '#23693f',
    'primary-bg': '#e6f2ea',
    'warning-text': '#8a4b00',
    'warning-bg': '#fff4e0',
    'error-text': '#a8071a',
    'error-bg': '#fff0ef',
    'neutral-bg': '#eef1ef',
    // `warning`, `danger` and `info` are for bars and marks: their contrast to the background of a container is at least 3:1.
    warning: '#c97a00',
    danger: '#cf1322',
    info: '#4a86c5',
    'info-text': '#0b4f8a',
    'info-bg': '#e6f1fb',
    'period-disabled': '#b8b8b8',
    'chart-line': '#aab6ae',
    'chart-bg': '#fafbfa',
  },
  dark: {
    'bg-layout': '#101412',
    'bg-container': '#181d1a',
    'bg-elevated': '#202622',
    border: '#2c342f',
    text: 'rgba(255, 255, 255, 0.88)',
    'text-secondary': 'rgba(255, 255, 255, 0.62)',
    placeholder: 'rgba(255, 255, 255, 0.55)',
    primary: '#3f9d66',
    'primary-text': '#7fd0a2',
    'primary-bg': '#1d3327',
    'warning-text': '#ffcf87',
    'warning-bg': '#3a2a10',
    'error-text': '#ffa39e',
    'error-bg': '#3d1a1a',
    'neutral-bg': '#2a312d',
    warning: '#e8b339',
    danger: '#f37370',
    info: '#6ea8de',
    'info-text': '#91caff',
    'info-bg': '#15273a',
    'period-disabled': '#5c5c5c',
    'chart-line': '#55635a',
    'chart-bg': '#0c0f0d',
  },
};

/** Sets the theme attribute and the CSS variables `--color-*`, for elements that are not antd components. */
export function applyTheme(dark: boolean): void {
  const { dataset, style } = document.documentElement;
  dataset.theme = dark ? 'dark' : 'light';
  style.colorScheme = dataset.theme;
  for (const [name, color] of Object.entries(dark ? PALETTES.dark : PALETTES.light))
    style.setProperty(`--color-${name}`, color);
}

export function createTheme(dark: boolean, reducedMotion: boolean): ThemeConfig {
  const palette = dark ? PALETTES.dark : PALETTES.light;
  return {
    algorithm: dark ? theme.darkAlgorithm : theme.defaultAlgorithm,
    token: {
      motion: !reducedMotion,
      colorPrimary: dark ? '#4fb97c' : '#2b7a4b',
      colorLink: dark ? '#6cc492' : '#23693f',
      colorInfo: dark ? '#4fb97c' : '#2b7a4b',
      // antd derives greyish backgrounds from a dark green, so these are set by hand.
      colorPrimaryBg: palette['primary-bg'],
      colorPrimaryBgHover: dark ? '#24402f' : '#d6eadd',
      colorPrimaryBorder: dark ? '#2f5e43' : '#a9d3ba',
      colorInfoBg: dark ? '#1d3327' : '#eef6f1',
      colorInfoBorder: dark ? '#2f5e43' : '#b9dbc7',
      colorBgLayout: palette['bg-layout'],
      colorBgContainer: palette['bg-container'],
      colorBgElevated: palette['bg-elevated'],
      // antd's default greys have a contrast below 4.5:1.
      colorTextTertiary: palette['text-secondary'],
      colorTextDescription: palette['text-secondary'],
      colorTextPlaceholder: palette.placeholder,
      colorError: dark ? '#ff7875' : '#cf1322',
      // antd lightens colours on hover, which lowers the contrast below 4.5:1.
      colorPrimaryHover: dark ? '#6cc492' : '#23693f',
      colorLinkHover: dark ? '#8ad3aa' : '#1a5231',
      borderRadius: 8,
      fontFamily: FONT_FAMILY,
    },
    components: {
      Table: {
        rowSelectedBg: dark ? '#1a2720' : '#f4f9f6',
        rowSelectedHoverBg: dark ? '#1c2c23' : '#eef6f1',
      },
      // White text on the dark theme's green has a contrast below 4.5:1.
      Button: dark ? { primaryColor: '#06170d' } : {},
    },
  };
}

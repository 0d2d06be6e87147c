import { Button } from 'antd';
import type { OwnSession } from '../api.ts';
import { defineTexts, useTexts } from '../language.ts';
import { StatusTag } from './status-tag.tsx';

const sessionTexts = defineTexts({
  zh: {
    current: '当前设备',
    since: (time: string) => `登录于 ${time}`,
    lastUsed: (time: string) => `最近使用 ${time}`,
    unknownDevice: '未知设备',
    end: '退出登录',
    endSession: (device: string) => `退出登录：${device}`,
  },
  en: {
    current: 'Current session',
    since: (time: string) => `logged in ${time}`,
    lastUsed: (time: string) => `last used ${time}`,
    unknownDevice: 'Unknown device',
    end: 'End',
    endSession: (device: string) => `End session: ${device}`,
  },
});

interface Props {
  session: OwnSession;
  disabled: boolean;
  onEnd: () => void;
}

/** One session in a list, with a button that ends it. The current session ends by logging out. */
export function SessionItem({ session, disabled, onEnd }: Props) {
  const t = useTexts(sessionTexts);
  const device = describeDevice(session.userAgent) ?? t.unknownDevice;
  return (
    <li>
      <div>
        <strong>{device}</strong> {session.current && <StatusTag tone="success">{t.current}</StatusTag>}
        <div className="secondary">
          {[session.address, t.since(session.createTime), t.lastUsed(session.lastUsedTime)].filter(Boolean).join(' · ')}
        </div>
      </div>
      {!session.current && (
        <Button disabled={disabled} onClick={onEnd} aria-label={t.endSession(device)}>
          {t.end}
        </Button>
      )}
    </li>
  );
}

/** Guesses browser and system from the user agent. That of Android contains “Linux” too. */
function describeDevice(userAgent: string): string | undefined {
  if (!userAgent) return undefined;
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent));
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux(?!.*Android))/.exec(userAgent)?.[1];
  return browser ? [browser[0], system].filter(Boolean).join(' · ') : userAgent.slice(0, 40);
}

/** The first pattern that matches counts: Edge calls itself Chrome too, and all browsers call themselves Safari on iOS. */
const BROWSERS = [
  ['Edge', /Edg(?:A|iOS)?\//],
  ['Firefox', /(?:Firefox|FxiOS)\//],
  ['Chrome', /(?:Chrome|CriOS)\//],
  ['Safari', /Safari\//],
] as const;

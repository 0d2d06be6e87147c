import {
  ApartmentOutlined,
  BankOutlined,
  BgColorsOutlined,
  FileTextOutlined,
  GlobalOutlined,
  ImportOutlined,
  LockOutlined,
  LogoutOutlined,
  UserAddOutlined,
} from '@ant-design/icons';
import type { ReactNode } from 'react';
import { type NavigateFunction, useNavigate } from 'react-router';
import { setLanguage, useLanguage } from '../../language.ts';
import { logOut, useIsAdministrator } from '../../session.ts';
import { useStore } from '../../store.ts';
import { themeMode, useIsDark } from '../../theme.ts';
import { uiTexts } from '../texts.ts';
import { useNotify } from '../use-notify.ts';
import { searchTexts } from './texts.ts';

export interface Command {
  key: string;
  group: 'screen' | 'action';
  label: string;
  icon: ReactNode;
  /** What the command is found by: its names in both languages, pinyin and first letters. */
  keywords: string;
  run: () => void;
}

type ScreenName =
  | 'home'
  | 'departments'
  | 'chart'
  | 'people'
  | 'tenants'
  | 'quotas'
  | 'changes'
  | 'diff'
  | 'pastTree'
  | 'deleted'
  | 'webhooks'
  | 'keys'
  | 'me';
type ActionName =
  | 'createDepartment'
  | 'createPerson'
  | 'createTenant'
  | 'importDepartments'
  | 'importPeople'
  | 'changePassword';

const screens: Record<ScreenName, { path: string; pinyin: string; forAll?: true }> = {
  home: { path: '/home', pinyin: 'shouye sy', forAll: true },
  departments: { path: '/departments', pinyin: 'bumen bm', forAll: true },
  chart: { path: '/chart', pinyin: 'zuzhijiagoutu zzjgt', forAll: true },
  people: { path: '/people', pinyin: 'renyuan ry' },
  tenants: { path: '/tenants', pinyin: 'zuhu zh' },
  quotas: { path: '/quotas', pinyin: 'peie pe' },
  changes: { path: '/changes', pinyin: 'biangengjilu bgjl' },
  diff: { path: '/changes/diff', pinyin: 'zuzhijiagouduibi zzjgdb' },
  pastTree: { path: '/changes/tree', pinyin: 'lishizuzhijiagou lszzjg' },
  deleted: { path: '/deleted', pinyin: 'yishanchu ysc' },
  webhooks: { path: '/webhooks', pinyin: '' },
  keys: { path: '/keys', pinyin: 'miyao my' },
  me: { path: '/me', pinyin: 'gerenzhongxin grzx', forAll: true },
};

const actions: Record<ActionName, { path: string; pinyin: string; icon: ReactNode; forAll?: true }> = {
  createDepartment: { path: '/departments?create=1', pinyin: 'xinjianbumen xjbm', icon: <ApartmentOutlined /> },
  createPerson: { path: '/people?person=new', pinyin: 'xinjianyonghu xjyh', icon: <UserAddOutlined /> },
  createTenant: { path: '/tenants/new', pinyin: 'xinjianzuhu xjzh', icon: <BankOutlined /> },
  importDepartments: { path: '/import/departments', pinyin: 'daorubumen drbm', icon: <ImportOutlined /> },
  importPeople: { path: '/import/people', pinyin: 'daoruyonghu dryh', icon: <ImportOutlined /> },
  changePassword: { path: '/me', pinyin: 'xiugaimima xgmm', icon: <LockOutlined />, forAll: true },
};

/** Returns the screens and actions that the user may use. */
export function useCommands(): Command[] {
  const administrator = useIsAdministrator();
  const language = useLanguage();
  const isDark = useIsDark();
  const mode = useStore(themeMode);
  const navigate = useNavigate();
  const notify = useNotify();
  const isShown = ({ forAll }: { forAll?: true }) => administrator || forAll === true;
  const entries = <Name extends string, T extends { forAll?: true }>(record: Record<Name, T>) =>
    (Object.entries(record) as [Name, T][]).filter(([, each]) => isShown(each));
  return [
    ...entries(screens).map(([name, { path, pinyin }]) => ({
      ...{ key: name, group: 'screen' as const, icon: <FileTextOutlined />, label: uiTexts[language][name] },
      keywords: `${uiTexts.zh[name]} ${uiTexts.en[name]} ${pinyin}`,
      run: open(navigate, path),
    })),
    ...entries(actions).map(([name, { path, pinyin, icon }]) => ({
      ...{ key: name, group: 'action' as const, icon, label: searchTexts[language][name] },
      keywords: `${searchTexts.zh[name]} ${searchTexts.en[name]} ${pinyin}`,
      run: open(navigate, path),
    })),
    ...(['lightTheme', 'darkTheme', 'systemTheme'] as const)
      .filter((name) => (name === 'systemTheme' ? mode !== 'system' : name === (isDark ? 'lightTheme' : 'darkTheme')))
      .map((name) => ({
        ...{ key: name, group: 'action' as const, icon: <BgColorsOutlined />, label: searchTexts[language][name] },
        keywords: `${searchTexts.zh[name]} ${searchTexts.en[name]} zhuti zt`,
        run: () => themeMode.set(name === 'systemTheme' ? 'system' : name === 'darkTheme' ? 'dark' : 'light'),
      })),
    {
      ...{ key: 'language', group: 'action', icon: <GlobalOutlined /> },
      label: language === 'zh' ? 'Switch to English' : '切换到中文',
      keywords: 'switch to english language 切换语言 中文 英文 qiehuanyuyan qhyy yuyan yy',
      run: () => setLanguage(language === 'zh' ? 'en' : 'zh'),
    },
    {
      ...{ key: 'logOut', group: 'action', icon: <LogoutOutlined />, label: uiTexts[language].logOut },
      keywords: `${uiTexts.zh.logOut} ${uiTexts.en.logOut} tuichudenglu tcdl`,
      run: () => void logOut().catch(notify.error),
    },
  ];
}

const open = (navigate: NavigateFunction, path: string) => () => void navigate(path);

/**
 * Returns the commands that contain every word; those with a keyword that begins with the first word come first. Without text,
 * it returns the actions.
 */
export function findCommands(commands: Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return commands.filter(({ group }) => group === 'action');
  const found = commands.filter(({ keywords }) => words.every((word) => keywords.toLowerCase().includes(word)));
  const isBeginning = ({ keywords }: Command) =>
    keywords
      .toLowerCase()
      .split(' ')
      .some((each) => each.startsWith(words[0] as string));
  return [...found.filter(isBeginning), ...found.filter((each) => !isBeginning(each))];
}

import type { Language } from './organization.ts';
import type { Random } from './random.ts';

/** Names of people, as characters and in pinyin. */

const SURNAMES =
  '王wang 李li 张zhang 刘liu 陈chen 杨yang 赵zhao 黄huang 周zhou 吴wu 徐xu 孙sun 胡hu 朱zhu 高gao 林lin 何he 郭guo 马ma 罗luo ' +
  '梁liang 宋song 郑zheng 谢xie 韩han 唐tang 冯feng 于yu 董dong 萧xiao 程cheng 曹cao 袁yuan 邓deng 许xu 傅fu 沈shen 曾zeng 彭peng 吕lv';
const GIVEN =
  '伟wei 芳fang 娜na 敏min 静jing 丽li 强qiang 磊lei 军jun 洋yang 勇yong 艳yan 杰jie 娟juan 涛tao 明ming 超chao 霞xia 平ping 刚gang ' +
  '文杰wenjie 建国jianguo 志强zhiqiang 晓燕xiaoyan 海燕haiyan 丽华lihua 建华jianhua 春梅chunmei 志勇zhiyong 玉兰yulan ' +
  '子涵zihan 雨桐yutong 浩然haoran 欣怡xinyi 宇轩yuxuan 思远siyuan 佳宁jianing 俊熙junxi 梦瑶mengyao 天宇tianyu ' +
  '嘉伟jiawei 婷婷tingting 晨曦chenxi 国栋guodong 雪梅xuemei 永康yongkang 立新lixin 慧敏huimin 振华zhenhua 秀英xiuying';

const split = (names: string) =>
  names.split(' ').map((name) => {
    const [, characters = '', pinyin = ''] = /^(\P{ASCII}+)(\w+)$/u.exec(name) ?? [];
    return { characters, pinyin };
  });

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export interface Person {
  userName: string;
  nickName: string;
  phone: string;
  email: string;
}

/** Returns people with different user names. */
export function createPeople(count: number, language: Language, random: Random): Person[] {
  const [surnames, given] = [split(SURNAMES), split(GIVEN)];
  const names = random.shuffle(surnames.flatMap((surname) => given.map((name) => ({ surname, name }))));
  const taken = new Map<string, number>();
  return names.slice(0, count).map(({ surname, name }) => {
    const base = `${surname.pinyin}.${name.pinyin}`;
    const same = (taken.get(base) ?? 0) + 1;
    taken.set(base, same);
    const userName = same === 1 ? base : `${base}${same}`;
    return {
      userName,
      nickName:
        language === 'zh'
          ? `${surname.characters}${name.characters}`
          : `${capitalize(surname.pinyin)} ${capitalize(name.pinyin)}`,
      phone: `1${random.pick(['38', '39', '36', '51', '59', '86', '88'])}${String(random.integer(1e8)).padStart(8, '0')}`,
      email: `${userName}@ronghua.example`,
    };
  });
}

import type { Sql } from '../../db/driver.ts';
import { type Measure, median, type Result } from '../measure.ts';
import { call, createTenant } from '../services.ts';

const DEPARTMENTS = 1_000_000;
const PEOPLE = 100_000;
const FIRST = 40_000_000;
const CHILDREN = 10;
const SEARCHES = 100;

const surnames = pairs(
  '李li 王wang 张zhang 刘liu 陈chen 杨yang 赵zhao 黄huang 周zhou 吴wu 徐xu 孙sun 胡hu 朱zhu 高gao 林lin 何he 郭guo 马ma 罗luo',
);
const given = pairs(
  '文wen 杰jie 伟wei 芳fang 娜na 敏min 静jing 丽li 强qiang 磊lei 军jun 洋yang 勇yong 艳yan 涛tao 明ming 超chao 霞xia 平ping 刚gang 建jian 国guo 华hua 志zhi 小xiao 红hong 玲ling 桂gui 英ying 海hai',
);
const cities = pairs(
  '苏州suzhou 无锡wuxi 南京nanjing 杭州hangzhou 宁波ningbo 青岛qingdao 济南jinan 武汉wuhan 成都chengdu 西安xian',
);
const work = pairs(
  '装配zhuangpei 焊接hanjie 涂装tuzhuang 冲压chongya 质检zhijian 仓储cangchu 物流wuliu 采购caigou 研发yanfa 售后shouhou 财务caiwu 人事renshi 设备shebei 工艺gongyi 计划jihua 安全anquan',
);
const units = pairs('车间chejian 班组banzu 小组xiaozu 科室keshi 工段gongduan');

/** Splits Chinese words with their pinyin. */
function pairs(text: string): { name: string; pinyin: string }[] {
  return text.split(' ').map((each) => ({ name: each.replace(/[a-z]/g, ''), pinyin: each.replace(/[^a-z]/g, '') }));
}
const namesOf = (words: { name: string }[]) => words.map(({ name }) => name);
const at = <T>(list: T[], n: number): T => list[n % list.length] as T;

/** The words of the n-th person, from 0, as `fill` chooses them. */
const personAt = (n: number) => [at(surnames, n), at(given, Math.floor(n / 20)), at(given, Math.floor(n / 600))];
const phoneAt = (n: number) => String(13_000_000_000 + ((n * 7_919) % 900_000_000));
const deptAt = (n: number) => ({ work: at(work, n * 7), unit: at(units, n * 3), number: n % 9_973 });

async function fill(superuser: Sql, tenantId: string): Promise<void> {
  await superuser`set session_replication_role = replica`;
  await superuser`
    insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, order_num, create_by)
    select ${tenantId}, ${FIRST}::bigint + n, case when n > 0 then ${FIRST}::bigint + (n - 1) / ${CHILDREN} end,
      case when n = 0 then '华星集团' when n between 1 and 10 then (${namesOf(cities)}::text[])[n] || '工厂'
        else (${namesOf(work)}::text[])[n * 7 % ${work.length} + 1] || (n % 9973) || (${namesOf(units)}::text[])[n * 3 % ${units.length} + 1]
        end, n % ${CHILDREN}, 'bench'
    from generate_series(0, ${DEPARTMENTS}::bigint - 1) n`;
  await superuser`
    insert into banyan.users (tenant_id, user_id, user_name, user_key, nick_name, phone, password_hash, create_by)
    select ${tenantId}, ${FIRST}::bigint + n, 'user' || n, 'user' || n,
      (${namesOf(surnames)}::text[])[n % 20 + 1] || (${namesOf(given)}::text[])[n / 20 % 30 + 1] || (${namesOf(given)}::text[])[n / 600 % 30 + 1],
      (13000000000 + n * 7919 % 900000000)::text, '', 'bench'
    from generate_series(0, ${PEOPLE}::bigint - 1) n`;
  await superuser`
    insert into banyan.user_departments (tenant_id, user_id, dept_id, main)
    select ${tenantId}, ${FIRST}::bigint + n, ${FIRST}::bigint + n * 9, true from generate_series(0, ${PEOPLE}::bigint - 1) n`;
  await superuser`reset session_replication_role`;
  await superuser`vacuum analyze banyan.departments`;
  await superuser`vacuum analyze banyan.users`;
}

/** Returns the text of the n-th search and, if it is certain, the name of the first result. */
type Query = (n: number) => { q: string; first?: string };

const queries: Record<string, Query> = {
  'a person by name': (n) => ({ q: namesOf(personAt(n)).join(''), first: namesOf(personAt(n)).join('') }),
  'a person by pinyin': (n) => ({
    q: personAt(n)
      .map(({ pinyin }) => pinyin)
      .join(''),
  }),
  'a person by first letters': (n) => ({
    q: personAt(n)
      .map(({ pinyin }) => pinyin[0])
      .join(''),
  }),
  'a phone number': (n) => ({ q: phoneAt(n), first: namesOf(personAt(n)).join('') }),
  'four digits of a phone number': (n) => ({ q: phoneAt(n).slice(-4) }),
  'an id': (n) => ({ q: String(FIRST + n), first: namesOf(personAt(n)).join('') }),
  'a department by name': (n) => {
    const dept = deptAt(n + 11);
    return { q: `${dept.work.name}${dept.number}`, first: `${dept.work.name}${dept.number}${dept.unit.name}` };
  },
  'a department by pinyin': (n) => ({ q: `${deptAt(n).work.pinyin}${deptAt(n).number}` }),
  'two words of a path': (n) => ({ q: `${at(cities, n).name} ${at(work, n >> 2).name}` }),
  'two words of a path by pinyin': (n) => ({ q: `${at(cities, n).pinyin} ${at(work, n >> 2).pinyin}` }),
  'a common word': (n) => ({ q: at(units, n).name }),
  'common first letters': (n) => ({ q: at(units, n).pinyin.slice(0, 2) }),
  'a word that no name contains': (n) => ({ q: `榕树${n}` }),
};

/** Measures searches in a tenant with a million departments and a hundred thousand people, one after the other. */
export const search: Measure = async ({ database: { superuser }, service: { base }, rounds, progress }) => {
  progress(`search: a tenant with ${DEPARTMENTS} departments and ${PEOPLE} people`);
  const { tenantId, token } = await createTenant(base);
  await fill(superuser, tenantId);
  const results: Result[] = [];
  for (const [name, queryAt] of Object.entries(queries)) {
    progress(`search: ${name}`);
    const percentiles: number[] = [];
    const times: number[] = [];
    // Round 0 is a warm-up and does not count.
    for (let round = 0; round <= rounds; round++) {
      const ofRound: number[] = [];
      for (let k = 0; k < SEARCHES; k++) {
        const { q, first } = queryAt((round * SEARCHES + k) * 131);
        const startedAt = performance.now();
        const { data } = await call(base, 'GET', `/system/search-api?q=${encodeURIComponent(q)}`, token);
        ofRound.push(performance.now() - startedAt);
        if (first !== undefined && data[0]?.name !== first)
          throw new Error(`${q} found ${data[0]?.name}, not ${first}`);
        if (data.length === 0 && !q.startsWith('榕树')) throw new Error(`${q} found nothing`);
      }
      if (round > 0) percentiles.push(percentile(ofRound, 0.99));
      if (round > 0) times.push(...ofRound);
    }
    results.push({
      name: `Search: ${name}`,
      figure: median(percentiles),
      unit: 'ms (p99)',
      goal: { most: 100 },
      range: [Math.min(...percentiles), Math.max(...percentiles)],
      notes: `median ${median(times).toFixed(1)} ms`,
    });
  }
  return results;
};

const percentile = (numbers: number[], part: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(part * (numbers.length - 1))] as number;

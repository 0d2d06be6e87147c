/** The group of companies of the demonstration data: tenants and their departments, in Chinese and English. */

export type Language = 'zh' | 'en';
type Text = `${string}|${string}`;

/** Returns the text of one language. */
export const pick = (text: string, language: Language): string => text.split('|')[language === 'zh' ? 0 : 1] ?? text;

export interface Company {
  name: Text;
  /** The index of the parent in `COMPANIES`; undefined: a tenant directly below 000000. */
  parent?: number;
  outline: string;
  /** How many people work there at the end. */
  people: number;
  /** How many days ago the tenant was created, and in how many days its service ends (negative: it has ended). */
  foundedDaysAgo: number;
  endsInDays: number | null;
  /** In how many days the service begins; by default it began when the tenant was created. */
  startsInDays?: number;
  disabled?: boolean;
  accountCount: number;
  /** The totals of quotas, and the approximate share of each total that has been used. */
  quotas?: Partial<Record<'enterpriseQuery' | 'annualReportQuery' | 'businessReport' | 'riskReport', number>>;
  use?: number;
}

/** Departments of the head office, in tenant 000000. Each level of indentation is a level of the tree. */
export const HEAD_OFFICE = `
总裁办公室|Office of the President
 秘书处|Secretariat
 行政部|Administration
战略发展中心|Strategy
 投资管理部|Investment
 产业研究部|Industry Research
人力资源中心|Human Resources
 招聘部|Recruiting
 薪酬绩效部|Compensation
 培训发展部|Learning and Development
 员工关系部|Employee Relations
财务中心|Finance
 会计核算部|Accounting
 资金部|Treasury
 税务部|Tax
 预算管理部|Budgeting
法务合规部|Legal and Compliance
内部审计部|Internal Audit
信息技术中心|Information Technology
 基础架构部|Infrastructure
 业务系统部|Business Systems
  ERP 组|ERP Team
  主数据组|Master Data Team
 信息安全部|Information Security
 数据平台部|Data Platform
品牌公关部|Brand and Communications
采购中心|Procurement
 原材料采购部|Raw Materials
 设备采购部|Equipment
 供应商管理部|Supplier Management
中央研究院|Research Institute
 材料研究所|Materials
 智能制造研究所|Smart Manufacturing
 检测中心|Testing Center
华东大区|East Region
 上海办事处|Shanghai Office
 江苏办事处|Jiangsu Office
 浙江办事处|Zhejiang Office
 安徽办事处|Anhui Office
华南大区|South Region
 广东办事处|Guangdong Office
 福建办事处|Fujian Office
 广西办事处|Guangxi Office
华北大区|North Region
 北京办事处|Beijing Office
 天津办事处|Tianjin Office
 山东办事处|Shandong Office
西南大区|Southwest Region
 四川办事处|Sichuan Office
 重庆办事处|Chongqing Office
 云南办事处|Yunnan Office
`.replace(/^ (..)办事处\|(\w+) Office$/gm, '$&\n  $1销售组|$2 Sales\n  $1服务组|$2 Service');

const FACTORY = `
厂长办公室|Plant Management
生产部|Production
 计划科|Planning
 冲压车间|Press Shop
 装配车间|Assembly
  装配一线|Assembly Line 1
  装配二线|Assembly Line 2
  装配三线|Assembly Line 3
 包装车间|Packaging
质量部|Quality
 来料检验组|Incoming Inspection
 过程检验组|Process Inspection
设备部|Maintenance
 机修组|Mechanics
 电气组|Electrical
仓储物流部|Warehouse and Logistics
 原料仓|Raw Material Store
 成品仓|Finished Goods Store
安全环保部|Safety and Environment
综合管理部|General Affairs
财务部|Finance
`;

const RETAIL = `
总经理办公室|General Management
商品部|Merchandising
 选品组|Selection
 定价组|Pricing
门店运营部|Store Operations
 一区|District 1
  人民广场店|People’s Square Store
  徐家汇店|Xujiahui Store
  静安店|Jing’an Store
 二区|District 2
  陆家嘴店|Lujiazui Store
  世纪公园店|Century Park Store
  张江店|Zhangjiang Store
 三区|District 3
  虹桥店|Hongqiao Store
  七宝店|Qibao Store
  松江店|Songjiang Store
电商部|E-Commerce
 直播组|Live Sales
 客服组|Customer Service
市场部|Marketing
会员中心|Membership
财务部|Finance
人事行政部|HR and Administration
`;

const LOGISTICS = `
总经理办公室|General Management
运输部|Transport
 干线组|Long Haul
 城配组|City Delivery
 调度室|Dispatch
仓储部|Warehousing
 一号仓|Warehouse 1
 二号仓|Warehouse 2
 冷链仓|Cold Store
客户服务部|Customer Service
安全部|Safety
财务部|Finance
综合部|General Affairs
`;

const DIGITAL = `
总经理办公室|General Management
产品部|Product
研发中心|Engineering
 前端组|Front End
 后端组|Back End
 移动端组|Mobile
 测试组|Test
 运维组|Operations
数据智能部|Data and AI
 算法组|Algorithms
 数据工程组|Data Engineering
交付中心|Delivery
 华东交付部|Delivery East
 华南交付部|Delivery South
销售部|Sales
 大客户组|Key Accounts
 渠道组|Channels
人事行政部|HR and Administration
财务部|Finance
`;

const OFFICE = `
总经理办公室|General Management
业务一部|Business Unit 1
业务二部|Business Unit 2
风控部|Risk Control
客户服务部|Customer Service
财务部|Finance
综合部|General Affairs
`;

/** The tenants. A parent stands before its children. */
export const COMPANIES: Company[] = [
  {
    ...{ name: '榕华制造（苏州）有限公司|Ronghua Manufacturing (Suzhou)', outline: FACTORY, people: 62 },
    ...{ foundedDaysAgo: 360, endsInDays: 370, accountCount: 120, use: 0.55 },
    quotas: { enterpriseQuery: 2_000, businessReport: 300 },
  },
  {
    ...{ name: '榕华制造无锡工厂|Ronghua Manufacturing Wuxi Plant', parent: 0, outline: FACTORY, people: 44 },
    ...{ foundedDaysAgo: 300, endsInDays: 370, accountCount: 80 },
  },
  {
    ...{ name: '榕华制造合肥工厂|Ronghua Manufacturing Hefei Plant', parent: 0, outline: FACTORY, people: 36 },
    ...{ foundedDaysAgo: 150, endsInDays: 12, accountCount: 60 },
  },
  {
    ...{ name: '榕华零售（上海）有限公司|Ronghua Retail (Shanghai)', outline: RETAIL, people: 38 },
    ...{ foundedDaysAgo: 352, endsInDays: 240, accountCount: 60, use: 0.86 },
    quotas: { enterpriseQuery: 1_200, annualReportQuery: 200 },
  },
  {
    ...{ name: '榕华零售杭州加盟店|Ronghua Retail Hangzhou (franchise)', parent: 3, outline: OFFICE, people: 12 },
    ...{ foundedDaysAgo: 260, endsInDays: 105, accountCount: 15, use: 0.4 },
    quotas: { enterpriseQuery: 300 },
  },
  {
    ...{ name: '榕华零售南京加盟店|Ronghua Retail Nanjing (franchise)', parent: 3, outline: OFFICE, people: 10 },
    ...{ foundedDaysAgo: 230, endsInDays: -9, accountCount: 12 },
  },
  {
    ...{ name: '榕华物流（武汉）有限公司|Ronghua Logistics (Wuhan)', outline: LOGISTICS, people: 36 },
    ...{ foundedDaysAgo: 340, endsInDays: 25, accountCount: 50, use: 0.7 },
    quotas: { enterpriseQuery: 800, riskReport: 150 },
  },
  {
    ...{ name: '榕华物流成都分拨中心|Ronghua Logistics Chengdu Hub', parent: 6, outline: LOGISTICS, people: 24 },
    ...{ foundedDaysAgo: 190, endsInDays: 175, accountCount: 30 },
  },
  {
    ...{ name: '榕华数科（深圳）有限公司|Ronghua Digital (Shenzhen)', outline: DIGITAL, people: 58 },
    ...{ foundedDaysAgo: 345, endsInDays: 400, accountCount: 80, use: 0.98 },
    quotas: { enterpriseQuery: 1_500, riskReport: 240, businessReport: 260 },
  },
  {
    ...{ name: '榕华商业保理（北京）有限公司|Ronghua Factoring (Beijing)', outline: OFFICE, people: 18 },
    ...{ foundedDaysAgo: 280, endsInDays: 85, accountCount: 25, use: 0.5 },
    quotas: { enterpriseQuery: 900, annualReportQuery: 300, riskReport: 200 },
  },
  {
    ...{ name: '榕华职业培训学校（广州）|Ronghua Training School (Guangzhou)', outline: OFFICE, people: 14 },
    ...{ foundedDaysAgo: 320, endsInDays: 45, accountCount: 20, disabled: true },
  },
  {
    ...{ name: '榕华国际（新加坡）|Ronghua International (Singapore)', outline: OFFICE, people: 8 },
    ...{ foundedDaysAgo: 20, startsInDays: 14, endsInDays: 740, accountCount: 20 },
  },
];

export const PEOPLE = { all: 500, headOffice: 500 - COMPANIES.reduce((sum, { people }) => sum + people, 0) };
export const DEPARTMENTS = 300;

export interface OutlineEntry {
  name: Text;
  /** The index of the parent in the list; undefined: top level. */
  parent?: number;
}

/** Parses an outline. A parent stands before its children. */
export function parseOutline(outline: string): OutlineEntry[] {
  const entries: OutlineEntry[] = [];
  /** The last entry of each level. */
  const open: number[] = [];
  for (const line of outline.split('\n').filter((each) => each.trim() !== '')) {
    const level = line.search(/\S/);
    const parent = level === 0 ? undefined : open[level - 1];
    open[level] = entries.length;
    entries.push({ name: line.trim() as Text, ...(parent === undefined ? {} : { parent }) });
  }
  return entries;
}

/** Returns the departments of the head office and of each company. Factories get shifts until there are 300 in all. */
export function listDepartments(): OutlineEntry[][] {
  const lists = [HEAD_OFFICE, ...COMPANIES.map(({ outline }) => outline)].map(parseOutline);
  const factories = lists.filter((_, n) => COMPANIES[n - 1]?.outline === FACTORY);
  const count = () => lists.reduce((sum, list) => sum + list.length, 0);
  for (let n = 0; count() < DEPARTMENTS; n++) {
    const list = factories[n % factories.length] as OutlineEntry[];
    const lines = list.flatMap(({ name }, index) => (/车间|线\|/.test(name) ? [index] : []));
    const shift = Math.floor(n / 3);
    const parent = lines[shift % lines.length] as number;
    const number = Math.floor(shift / lines.length) + 1;
    list.push({ name: `${'甲乙丙丁'[number - 1]}班|Shift ${'ABCD'[number - 1]}`, parent });
  }
  return lists;
}

/** The positions of people in the demonstration data, as `Chinese|English`, by the Chinese name of their department. */

const LEADERS: [department: RegExp, position: string][] = [
  [/总裁办公室/, '集团总裁|Group President'],
  [/总经理办公室/, '总经理|General Manager'],
  [/厂长办公室/, '厂长|Plant Manager'],
  [/大区$/, '大区总经理|Regional General Manager'],
  [/研究院$/, '院长|Head of Research'],
  [/研究所$/, '所长|Head of Institute'],
  [/办事处$/, '办事处主任|Office Manager'],
  [/中心$/, '总监|Director'],
  [/车间$/, '车间主任|Workshop Manager'],
  [/科$/, '科长|Section Head'],
  [/室$/, '主任|Section Head'],
  [/处$/, '处长|Division Head'],
  [/店$/, '店长|Store Manager'],
  [/仓$/, '仓库主管|Warehouse Supervisor'],
  [/线$/, '线长|Line Leader'],
  [/组$/, '组长|Team Lead'],
  [/区$/, '区域经理|District Manager'],
  [/./, '部门经理|Department Manager'],
];

const STAFF: [department: RegExp, positions: string[]][] = [
  [
    /销售|大客户|渠道|业务[一二]部/,
    ['客户经理|Account Manager', '销售代表|Sales Representative', '销售助理|Sales Assistant'],
  ],
  [/办事处|大区/, ['区域经理|Area Manager', '销售支持|Sales Support']],
  [/服务|客服|会员/, ['客服专员|Service Specialist', '服务工程师|Service Engineer']],
  [/财务|会计|资金|税务|预算/, ['会计|Accountant', '出纳|Cashier', '财务分析师|Financial Analyst']],
  [/人力|招聘|薪酬|培训|员工|人事/, ['人事专员|HR Specialist', '招聘专员|Recruiter', '薪酬专员|Payroll Specialist']],
  [/法务|审计|风控/, ['法务专员|Legal Counsel', '审计师|Auditor', '风控专员|Risk Analyst']],
  [/前端|后端|移动|研发|ERP|主数据|系统/, ['软件工程师|Software Engineer', '高级软件工程师|Senior Software Engineer']],
  [/测试|检测|质量|检验/, ['测试工程师|Test Engineer', '质量工程师|Quality Engineer', '检验员|Inspector']],
  [/算法|数据/, ['算法工程师|Machine Learning Engineer', '数据工程师|Data Engineer']],
  [/运维|基础架构|信息/, ['运维工程师|Operations Engineer', '安全工程师|Security Engineer']],
  [/产品|交付|研究|战略|投资/, ['产品经理|Product Manager', '项目经理|Project Manager', '研究员|Researcher']],
  [/采购|商品|选品|定价|供应商/, ['采购专员|Buyer', '品类专员|Category Specialist']],
  [/市场|品牌|直播|电商/, ['市场专员|Marketing Specialist', '运营专员|Operations Specialist']],
  [/店$|门店|^.区$/, ['店员|Sales Assistant', '收银员|Cashier', '值班店长|Shift Manager']],
  [/运输|干线|城配|调度/, ['司机|Driver', '调度员|Dispatcher']],
  [/仓/, ['仓管员|Storekeeper', '叉车司机|Forklift Driver']],
  [/设备|机修|电气/, ['设备工程师|Maintenance Engineer', '电工|Electrician', '机修工|Mechanic']],
  [/车间|线$|生产|计划|包装/, ['操作工|Operator', '工艺工程师|Process Engineer', '计划员|Production Planner']],
  [/安全/, ['安全员|Safety Officer', '环保工程师|Environmental Engineer']],
  [/./, ['行政专员|Office Administrator', '助理|Assistant', '文员|Clerk']],
];

/** Returns the position of the `n`th person, in both languages. */
export function positionIn(department: string, { isLeader, n }: { isLeader: boolean; n: number }): string {
  const name = department.split('|')[0] ?? department;
  const matches = ([pattern]: [RegExp, unknown]) => pattern.test(name);
  if (isLeader) return LEADERS.find(matches)?.[1] ?? '';
  const positions = STAFF.find(matches)?.[1] ?? [];
  return positions[n % positions.length] ?? '';
}

import { type Generated, snowflake } from '../support/ruoyi.ts';

interface DefectOptions {
  /** Whether departments name their leader by text or by id, as older and newer versions of RuoYi do. */
  leader: 'text' | 'id';
  /** The hash of everyone's password. */
  password: string;
}

/** The code of a small tenant, some of whose records have defects. */
export const CODE = '654321';
/** Returns the id of department `n`. */
export const d = (n: number) => snowflake(n);
/** Returns the id of user `n`. */
export const u = (n: number) => snowflake(500 + n);
export const dept = (n: number, parent: string, values: Record<string, string | number | null> = {}) => ({
  ...{
    dept_id: d(n),
    tenant_id: CODE,
    parent_id: parent,
    ancestors: '0',
    dept_name: `部门${n}`,
    order_num: n,
    leader: null,
  },
  ...{ phone: null, email: null, status: '0', del_flag: '0', dept_category: null, ...values },
});
export const personOf =
  (password: string) =>
  (n: number, values: Record<string, string | number | null> = {}) => ({
    ...{
      user_id: u(n),
      tenant_id: CODE,
      dept_id: d(1),
      user_name: `user${n}`,
      nick_name: `用户${n}`,
      user_type: 'sys_user',
    },
    ...{
      email: null,
      phonenumber: '13800000000',
      sex: '2',
      avatar: null,
      password,
      status: '0',
      del_flag: '0',
      ...values,
    },
  });

function defectiveTenant({ leader, password }: DefectOptions) {
  const person = personOf(password);
  const led = leader === 'id' ? { leader: u(2) } : { leader: '王五' };
  return {
    sys_tenant: [
      {
        ...{
          id: snowflake(400),
          tenant_id: CODE,
          company_name: '示例公司',
          contact_user_name: '李四',
          contact_phone: '021-1',
        },
        ...{
          license_number: 'L-1',
          domain: 'x.example.com',
          package_id: snowflake(1),
          expire_time: '2099-06-30 12:00:00',
        },
        ...{ account_count: 3, status: '0', del_flag: '0' },
      },
    ],
    sys_dept: [
      dept(1, '0', { ...led, phone: '15888888888', email: 'a@example.com' }),
      dept(2, d(1), { ancestors: `0,${d(1)}`, status: '1' }),
      dept(3, d(2), { ancestors: `0,${d(1)},${d(2)}` }),
      dept(4, snowflake(999_999)),
      dept(5, d(1), { del_flag: '2' }),
      dept(6, d(5)),
      dept(7, d(8)),
      dept(8, d(7)),
      dept(9, d(9)),
      dept(10, d(1), { ancestors: '0,1,2' }),
      dept(11, d(1), {
        ancestors: `0,${d(1)}`,
        email: 'nobody',
        dept_name: '长'.repeat(120),
        status: 'x',
        order_num: null,
      }),
    ],
    sys_user: [
      person(1, { user_name: 'zhangsan' }),
      person(2, { user_name: 'ZhangSan', dept_id: d(3) }),
      person(3, { user_name: 'operator', dept_id: d(5) }),
      person(4, { user_name: 'li si', password: 'plain' }),
      person(5, { del_flag: '1' }),
      person(6, { user_name: 'other', dept_id: null }),
    ],
    sys_role: [
      {
        role_id: snowflake(800),
        tenant_id: CODE,
        role_name: '管理员',
        role_key: 'admin',
        data_scope: '1',
        status: '0',
        del_flag: '0',
      },
      {
        role_id: snowflake(801),
        tenant_id: '000000',
        role_name: '超级',
        role_key: 'superadmin',
        data_scope: '1',
        status: '0',
        del_flag: '0',
      },
      {
        role_id: snowflake(802),
        tenant_id: CODE,
        role_name: '数据',
        role_key: 'data',
        data_scope: '2',
        status: '0',
        del_flag: '0',
      },
    ],
    sys_user_role: [
      { user_id: u(1), role_id: snowflake(800) },
      { user_id: u(2), role_id: snowflake(801) },
      { user_id: u(2), role_id: snowflake(802) },
    ],
    sys_role_dept: [{ role_id: snowflake(802), dept_id: d(3) }],
    sys_user_post: [{ user_id: u(6), post_id: snowflake(900) }],
  };
}

/** Adds the small tenant to generated data. */
export function withDefects(generated: Generated, options: DefectOptions): Generated {
  const rows = { ...generated.rows };
  for (const [table, added] of Object.entries(defectiveTenant(options)))
    rows[table] = [...(rows[table] ?? []), ...added];
  const { codes, departments, users } = generated;
  return { rows, codes: [...codes, CODE], departments: departments + 10, users: users + 5 };
}

import type { Page } from 'playwright-core';
import { type Credentials, logInOnPage, navigate, startConsole } from '../support/console.ts';
import type { ServiceOptions } from '../support/service.ts';

/** Starts the console with two tabs of one browser, which share the cookie and are notified of each other's logins. */
export async function startTwoTabs(options: ServiceOptions = {}) {
  const fixture = await startConsole({}, options);
  const page = await fixture.sharedPage();
  const other = await page.context().newPage();

  async function logInOnBothTabs(credentials: Credentials, path: string, otherPath = '/home') {
    await logInOnPage(page, credentials, path);
    if (other.url() === 'about:blank') await other.goto(otherPath);
    else await navigate(other, otherPath);
    await other.getByRole('button', { name: `用户：${credentials.username}` }).waitFor();
  }

  const pathOf = (tab: Page) => tab.url().slice(fixture.service.base.length);
  return { fixture, page, other, pathOf, logInOnBothTabs };
}

/** Starts two tabs. `expireTokens` expires all access tokens issued so far. */
export async function startSessions() {
  let aheadMs = 0;
  const tabs = await startTwoTabs({ tokenClockAheadMs: () => aheadMs });
  const { service } = tabs.fixture;
  const { superuser } = service;
  const expireTokens = () => {
    aheadMs += 3_600_000;
  };
  /** Logs the administrator in again: their token may have expired. */
  const root = () => service.logIn('000000', 'admin');
  const createUser = async (userName: string, roles = ['member']) => (await root()).createUser({ userName, roles });
  const sessionsOf = (userName: string) => superuser<{ session_id: string }[]>`
    select session_id from banyan.sessions
    where user_id = (select user_id from banyan.users where user_name = ${userName} and tenant_id = '000000')`;
  return { ...tabs, superuser, expireTokens, root, createUser, sessionsOf };
}

// Single statistics, as the admin page has them.
import assert from 'node:assert/strict';
import type { StartedProxy } from './start-proxy.js';
import { until } from './waits.js';

type Admin = Pick<StartedProxy, 'adminUrl'>;

/** `name`: all of it, or what is behind a dot. Undefined: there is none. */
export async function statText({ adminUrl }: Admin, name: string): Promise<string | undefined> {
  const page = await (await fetch(`${adminUrl}/stats?filter=${name}$`)).text();
  const lines = page.split('\n').map((line) => line.split(': ', 2));
  return lines.find(([key]) => key === name || key?.endsWith(`.${name}`))?.[1];
}

/** NaN: there is none. */
export async function stat(admin: Admin, name: string): Promise<number> {
  return Number(await statText(admin, name));
}

export async function untilStat(admin: Admin, name: string, value: number): Promise<void> {
  let last: number | undefined;
  await until(async () => (last = await stat(admin, name)) === value, `${name} is ${value}`).catch(
    (error: unknown) => assert.fail(`${String(error)}, but ${last}`),
  );
}

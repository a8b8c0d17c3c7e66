// A browser without a window, for the pages that people look at. FAIRLEAD_TEST_BROWSER names one that
// is not where Linux distributions put them.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { chromium, type Page } from 'playwright-core';
import { packageRoot } from '../../../src/base/package-root.js';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const found = [process.env.FAIRLEAD_TEST_BROWSER ?? '', ...PLACES].find((path) => existsSync(path));

/** Why stories in a browser cannot be told here; false if they can. */
export const noBrowser = found === undefined ? 'there is no Chromium here (apt: chromium)' : false;

export interface OpenedPage {
  readonly page: Page;
  /** What its scripts threw, and what it could not load. */
  readonly faults: readonly string[];
}

export async function openPage(
  t: TestContext,
  url: string,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<OpenedPage> {
  const browser = await chromium.launch({ executablePath: found!, args: ['--no-sandbox'] });
  t.after(() => browser.close());
  const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (new URL(request.url()).host !== new URL(url).host) faults.push(`asks ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults };
}

/** Kept beside the other output of the tests, for people to look at. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = join(packageRoot(), 'build', 'test', 'screenshots');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepScreenshot, noBrowser, openPage } from '../support/browser.js';
import { ADMIN_ONLY, cluster, says, webBootstrap } from '../support/bootstraps.js';
import { startProxy } from '../support/start-proxy.js';
import { withoutUws } from '../support/without-uws.js';

const options = { skip: noBrowser };
const CLOSED_PORT = 1;

test('a button of the home page changes what it says, and a counter moves', options, async (t) => {
  const proxy = await startProxy(t, ADMIN_ONLY);
  const { page, faults } = await openPage(t, `${proxy.adminUrl}/`);
  await keepScreenshot(page, 'home');

  await page.getByRole('button', { name: 'healthcheck/fail' }).click();
  await page.getByText('OK').waitFor();
  assert.equal((await fetch(`${proxy.adminUrl}/ready`)).status, 503);
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=^server.live$`)).text();
  assert.equal(stats, 'server.live: 0\n');
  assert.deepEqual(faults, []);
});

/** What serves the page, and how that tells it what to show. */
const FEEDS = { 'uWebSockets.js': 'pushed', 'node:http': 'asked' } as const;

for (const [transport, feed] of Object.entries(FEEDS)) {
  test(
    `${transport}: /ui shows requests as they come, and the hosts of a cluster that is clicked`,
    options,
    async (t) => {
      if (feed === 'asked') withoutUws(t);
      const route = { match: { prefix: '/dead' }, route: { cluster: '<b>dead</b>' } };
      const proxy = await startProxy(
        t,
        webBootstrap([route, says('/', 'yes')], { '<b>dead</b>': CLOSED_PORT }),
        '-l',
        'info',
      );
      if (!proxy.command.stderr.includes(`admin server by ${transport}`)) {
        t.skip('no binary fits this Node and this C library');
        return;
      }
      const url = await proxy.listenerUrl('web');
      const { page, faults } = await openPage(t, `${proxy.adminUrl}/ui`);
      await page.getByText('LIVE', { exact: true }).waitFor();
      await page.waitForFunction(
        () => document.querySelector('#tile-requests .value')?.textContent === '0',
      );

      let isOver = false;
      const load = (async () => {
        while (!isOver) await (await fetch(url)).text();
      })();
      await page.waitForFunction(
        () => parseFloat(document.querySelector('#tile-requests .value')?.textContent ?? '') > 0,
      );
      await (await fetch(`${url}/dead`)).text();
      await page.getByRole('button', { name: '<b>dead</b>' }).click();
      await page.getByText(`127.0.0.1:${CLOSED_PORT}`).waitFor();
      await keepScreenshot(page, 'ui');
      isOver = true;
      await load;
      assert.deepEqual(faults, []);
      const how = await page.evaluate(() => document.documentElement.dataset.feed);
      assert.equal(how, feed);
      // Nothing is asked for over and over where it is pushed.
      const requestsNow = async (): Promise<number> => {
        const text = await (
          await fetch(`${proxy.adminUrl}/stats?filter=http.admin.downstream_rq_total`)
        ).text();
        return Number(text.split(': ')[1]);
      };
      const before = await requestsNow();
      await page.waitForTimeout(2500);
      assert.equal((await requestsNow()) - before > 1, feed === 'asked');
    },
  );
}

test('/ui finds its way back to a proxy that has followed another', options, async (t) => {
  const first = await startProxy(t, ADMIN_ONLY);
  const { page } = await openPage(t, `${first.adminUrl}/ui`);
  await page.getByText('LIVE', { exact: true }).waitFor();
  assert.equal((await first.command.end()).code, 0);
  await page.getByText('cannot read').waitFor();

  const { host } = new URL(first.adminUrl);
  const [address = '', port] = host.split(':');
  const socket_address = { address, port_value: Number(port) };
  await startProxy(t, { admin: { address: { socket_address } } });
  await page.getByText('cannot read').waitFor({ state: 'hidden' });
  await page.getByText('LIVE', { exact: true }).waitFor();
});

test('/ui finds statistics and what the configuration says', options, async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/', 'a rare answer')]));
  const { page, faults } = await openPage(t, `${proxy.adminUrl}/ui`, 'dark');

  await page.getByPlaceholder('text or regular expression').fill('^server.live$');
  await page.getByRole('button', { name: 'search' }).click();
  await page.getByRole('cell', { name: 'server.live' }).waitFor();
  await page.getByLabel('configuration').check();
  await page.getByPlaceholder('text or regular expression').fill('rare answer');
  await page.getByRole('button', { name: 'search' }).click();
  await page.getByText('a rare answer').first().waitFor();
  await keepScreenshot(page, 'ui-dark');
  assert.deepEqual(faults, []);
});

test(
  '/ui is quick with 10,000 clusters: those that are asked for are found at once',
  options,
  async (t) => {
    const clusters = Array.from({ length: 10_000 }, (_, i) => cluster(`service-${i}`, CLOSED_PORT));
    const proxy = await startProxy(t, { ...ADMIN_ONLY, static_resources: { clusters } });
    const { page, faults } = await openPage(t, `${proxy.adminUrl}/ui`);

    await page.getByText('10,000 in all').waitFor();
    const began = performance.now();
    await page.getByPlaceholder('name contains').fill('service-9876');
    await page.getByRole('button', { name: 'service-9876' }).waitFor();
    const tookMs = performance.now() - began;
    await keepScreenshot(page, 'ui-10000');
    assert.ok(tookMs < 2000, `it took ${tookMs.toFixed(0)} ms`);
    assert.deepEqual(faults, []);
  },
);

test('the active page of statistics keeps itself up to date', options, async (t) => {
  const proxy = await startProxy(t, ADMIN_ONLY);
  const { page, faults } = await openPage(t, `${proxy.adminUrl}/stats?format=active-html`);

  await page.getByRole('spinbutton', { name: 'Seconds' }).fill('1');
  const row = page.getByRole('row', { name: 'http.admin.downstream_rq_total' }).first();
  await row.waitFor();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('#changing tr')].some(
      ({ children: [name, , changes] }) =>
        name?.textContent === 'http.admin.downstream_rq_total' && Number(changes?.textContent) > 0,
    ),
  );
  await keepScreenshot(page, 'active-statistics');
  assert.deepEqual(faults, []);
});

test('no page is wider than a telephone, and no other site may frame one', options, async (t) => {
  const proxy = await startProxy(
    t,
    webBootstrap([says('/', 'yes')], { 'a-cluster-whose-name-is-longer-than-others': CLOSED_PORT }),
  );
  const { page, faults } = await openPage(t, proxy.adminUrl);
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of ['/', '/ui', '/stats?format=html', '/stats?format=active-html']) {
    const answer = await page.goto(proxy.adminUrl + path);
    assert.equal((await answer?.allHeaders())?.['x-frame-options'], 'DENY', path);
    if (path === '/ui') await page.getByRole('button', { name: 'a-cluster' }).click();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `${path}: ${width}`);
  }
  assert.deepEqual(faults, []);
});

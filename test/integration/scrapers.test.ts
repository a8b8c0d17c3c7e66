// Many scrapers at once while requests go through: nobody gets half a page, and nothing is miscounted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { says, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const CLUSTERS = 300;
const SCRAPERS = 20;
const REQUESTS = 1000;
const PAGES = [
  { path: '/stats', end: /\n$/ },
  { path: '/stats?format=json', end: /\]\}$/ },
  { path: '/stats/prometheus', end: /\n$/ },
  { path: '/clusters', end: /\n$/ },
  { path: '/config_dump', end: /\}\s*$/ },
];

test('twenty scrapers get whole pages, and each request is counted once', async (t) => {
  const origins = Object.fromEntries(
    Array.from({ length: CLUSTERS }, (_, index) => [`service_${index}`, 1]),
  );
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')], origins));
  const url = await proxy.listenerUrl('web');
  let isOver = false;
  const scrape = async (index: number): Promise<number> => {
    let pages = 0;
    for (; !isOver || pages < PAGES.length; ++pages) {
      const page = PAGES[(index + pages) % PAGES.length] ?? { path: '', end: /$/ };
      const answer = await fetch(`${proxy.adminUrl}${page.path}`);
      assert.equal(answer.status, 200);
      const text = await answer.text();
      assert.match(text, page.end);
      assert.ok(text.includes(`service_${CLUSTERS - 1}`), page.path);
    }
    return pages;
  };
  const scrapers = Array.from({ length: SCRAPERS }, (_, index) => scrape(index));
  for (let i = 0; i < REQUESTS; ++i) assert.equal(await (await fetch(url)).text(), 'yes');
  isOver = true;
  await Promise.all(scrapers);

  const total = await fetch(`${proxy.adminUrl}/stats?filter=^http.web.downstream_rq_total$`);
  assert.equal(await total.text(), `http.web.downstream_rq_total: ${REQUESTS}\n`);
});

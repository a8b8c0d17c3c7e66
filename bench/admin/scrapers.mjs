// Many scrapers at once, while the proxy has all the traffic it can take.
import { Agent } from 'node:http';
import { runProcess } from '../support/processes.mjs';
import { fetchPage } from './contestant.mjs';

const LOAD_CONNECTIONS = 32;
const TOTAL = 'http.ingress_http.downstream_rq_total';

/** @returns what they got, what was counted, and how long the control thread was held up */
export async function scrapeTogether(proxy, loadProgram, { scrapers, seconds, paths }) {
  const before = await totalOf(proxy);
  await proxy.delay();
  const endMs = performance.now() + seconds * 1000;
  const result = { scrapers, seconds, pages: 0, bytes: 0, failures: [] };
  const scrape = async (index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = index; performance.now() < endMs; ++turn) {
      const path = paths[turn % paths.length];
      try {
        const { status, bytes } = await fetchPage(proxy.adminPort, path, { agent });
        if (status !== 200) throw new Error(`${path} answers ${status}`);
        result.pages++;
        result.bytes += bytes;
      } catch (error) {
        result.failures.push(`${path}: ${error.message}`);
      }
    }
    agent.destroy();
  };
  const load = runProcess(loadProgram, [
    String(proxy.listenPort),
    '/100',
    String(LOAD_CONNECTIONS),
    String(seconds),
  ]);
  await Promise.all(Array.from({ length: scrapers }, (_, index) => scrape(index)));
  const { requests, failed, probes = 1 } = JSON.parse(await load);
  result.delay = await proxy.delay();
  const counted = (await totalOf(proxy)) - before;
  // The load counts what was answered; what is under way at its end was counted here only, at most
  // one for each connection; and it asks once before it begins.
  const surplus = counted - requests - probes;
  result.uncounted = surplus < 0 ? -surplus : Math.max(0, surplus - LOAD_CONNECTIONS);
  return { ...result, requests, failed };
}

async function totalOf({ adminPort }) {
  const { text } = await fetchPage(adminPort, `/stats?filter=^${TOTAL}$`, { keepText: true });
  return Number(text.split(': ')[1]);
}

// GET /ui: one page that shows what the proxy does now. It reads nothing but the admin endpoints.
import { readServerInfo } from './admin.js';
import { updateClusters } from './clusters.js';
import { byId } from './elements.js';
import { updateHosts } from './hosts.js';
import { count } from './numbers.js';
import { poll } from './poller.js';
import { listenForSearches } from './search.js';
import { addTiles, updateCounts, updateLatency } from './traffic.js';

/** How often each part is read, at most: milliseconds. */
const TRAFFIC_MS = 1000;
const CLUSTERS_MS = 2000;
const LATENCY_MS = 5000;

async function updateServer(): Promise<void> {
  const {
    version,
    state,
    uptime_current_epoch: uptime,
    command_line_options: options,
  } = await readServerInfo();
  const badge = byId('state');
  badge.textContent = state;
  badge.className = `badge ${state === 'LIVE' ? 'good' : 'bad'}`;
  const [, number = ''] = version.split('/');
  byId('server').textContent =
    `${number} · ${options.config_path} · ${count(options.concurrency, 'worker')} · ` +
    `epoch ${options.restart_epoch} · up ${uptime}`;
}

const failed = (error: unknown): void => {
  byId('trouble').textContent = `cannot read: ${(error as Error).message}`;
};
const watch = (everyMs: number, update: () => Promise<void>): void =>
  poll(
    everyMs,
    async () => {
      await update();
      byId('trouble').textContent = '';
    },
    failed,
  );

addTiles();
listenForSearches();
watch(CLUSTERS_MS, updateServer);
watch(TRAFFIC_MS, updateCounts);
watch(LATENCY_MS, updateLatency);
watch(CLUSTERS_MS, updateClusters);
watch(CLUSTERS_MS, updateHosts);

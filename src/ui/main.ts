// GET /ui: one page that shows what the proxy does now. It reads nothing but the admin endpoints.
import { SERVER_INFO, parseServerInfo } from './admin.js';
import { CLUSTERS_WATCH, onClusterClick } from './clusters.js';
import { byId } from './elements.js';
import { Feed, type Watch } from './feed.js';
import { HOSTS_WATCH, listenForClose, showHosts } from './hosts.js';
import { count } from './numbers.js';
import { listenForSearches } from './search.js';
import { addTiles, COUNTS_WATCH, LATENCY_WATCH } from './traffic.js';

const SERVER_WATCH: Watch = { everyMs: 2000, target: () => SERVER_INFO, show: showServer };

function showServer(page: string): void {
  const {
    version,
    state,
    uptime_current_epoch: uptime,
    command_line_options: options,
  } = parseServerInfo(page);
  const badge = byId('state');
  badge.textContent = state;
  badge.className = `badge ${state === 'LIVE' ? 'good' : 'bad'}`;
  const [, number = ''] = version.split('/');
  byId('server').textContent =
    `${number} · ${options.config_path} · ${count(options.concurrency, 'worker')} · ` +
    `epoch ${options.restart_epoch} · up ${uptime}`;
}

const trouble = (text: string): void => {
  byId('trouble').textContent = text;
};

addTiles();
listenForSearches();
const feed = new Feed(
  [SERVER_WATCH, COUNTS_WATCH, LATENCY_WATCH, CLUSTERS_WATCH, HOSTS_WATCH],
  () => trouble(''),
  (error) => trouble(`cannot read: ${(error as Error).message}`),
);
const hostsChanged = (): void => {
  feed.refresh(HOSTS_WATCH).catch((error: unknown) => trouble((error as Error).message));
};
onClusterClick((name) => {
  showHosts(name);
  hostsChanged();
});
listenForClose(hostsChanged);
feed.start();

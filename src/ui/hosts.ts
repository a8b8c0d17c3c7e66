// The hosts of the cluster that was clicked.
import { clusterTarget, parseCluster, type HostStatus } from './admin.js';
import { SortedColumns, type Column } from './columns.js';
import { byId, element, row } from './elements.js';
import type { Watch } from './feed.js';
import { count, percent, whole } from './numbers.js';

const ROWS = 500;

interface Host {
  readonly address: string;
  /** Empty where it is well. */
  readonly trouble: string;
  readonly zone: string;
  readonly weight: number;
  readonly stats: ReadonlyMap<string, number>;
}

const stat = (host: Host, name: string): number => host.stats.get(name) ?? 0;
const counter = (title: string, name: string): Column<Host> => ({
  title,
  key: (host) => stat(host, name),
  cell: (host) => whole(stat(host, name)),
});
const errorShare = (host: Host): number =>
  stat(host, 'rq_total') === 0 ? 0 : stat(host, 'rq_error') / stat(host, 'rq_total');

const byTrouble: Column<Host> = {
  title: 'health',
  key: ({ trouble }) => trouble,
  cell: ({ trouble }) =>
    element('span', trouble === '' ? 'healthy' : trouble, trouble === '' ? 'good' : 'bad'),
};
const COLUMNS: readonly Column<Host>[] = [
  { title: 'host', key: ({ address }) => address, cell: ({ address }) => address },
  byTrouble,
  { title: 'zone', key: ({ zone }) => zone, cell: ({ zone }) => zone },
  { title: 'weight', key: ({ weight }) => weight, cell: ({ weight }) => whole(weight) },
  counter('requests', 'rq_total'),
  counter('under way', 'rq_active'),
  { title: 'errors', key: errorShare, cell: (host) => percent(errorShare(host)) },
  counter('timeouts', 'rq_timeout'),
  counter('connections', 'cx_active'),
  counter('failed connects', 'cx_connect_fail'),
];

const panel = byId('hosts');
const columns = new SortedColumns(COLUMNS, byTrouble, panel.querySelector('thead tr')!, draw);
let shown: string | undefined;
let hosts: Host[] = [];
/** It was clicked, and has not been shown yet. */
let wantsSight = false;

export const HOSTS_WATCH: Watch = {
  everyMs: 2000,
  target: () => (shown === undefined ? undefined : clusterTarget(shown)),
  show: showPage,
};

/** `changed`: the watch has another target. */
export function listenForClose(changed: () => void): void {
  byId('hosts-close').addEventListener('click', () => {
    shown = undefined;
    panel.hidden = true;
    changed();
  });
}

export function showHosts(cluster: string): void {
  shown = cluster;
  hosts = [];
  wantsSight = true;
}

function showPage(page: string): void {
  const name = shown;
  if (name === undefined) return;
  hosts = (parseCluster(page, name)?.host_statuses ?? []).map(read);
  byId('hosts-title').textContent = `${name}: ${count(hosts.length, 'host')}`;
  panel.hidden = false;
  draw();
  if (wantsSight) panel.scrollIntoView({ block: 'nearest' });
  wantsSight = false;
}

function draw(): void {
  const rows = columns.sort(hosts).slice(0, ROWS);
  panel.querySelector('tbody')!.replaceChildren(...rows.map((host) => row(columns.cells(host))));
}

function read(status: HostStatus): Host {
  const { socket_address: socket, pipe } = status.address;
  return {
    address: socket ? `${socket.address}:${socket.port_value}` : (pipe?.path ?? ''),
    trouble: troubleOf(status.health_status ?? {}),
    zone: status.locality?.zone ?? '',
    weight: status.weight ?? 1,
    stats: new Map((status.stats ?? []).map(({ name, value }) => [name, Number(value ?? 0)])),
  };
}

/** The flags that are set, and what endpoint discovery says where that is not well. */
function troubleOf(health: Readonly<Record<string, unknown>>): string {
  const flags = Object.keys(health).filter((name) => health[name] === true);
  const discovered = health.eds_health_status;
  if (typeof discovered === 'string' && discovered !== 'HEALTHY' && discovered !== 'UNKNOWN') {
    flags.push(discovered);
  }
  return flags.join(', ').replaceAll('_', ' ').toLowerCase();
}

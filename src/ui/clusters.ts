// The clusters: those with the most of whatever the table is sorted by, out of however many there are.
import { parseValues, valuesTarget } from './admin.js';
import { SortedColumns, type Column } from './columns.js';
import { button, byId, element, row } from './elements.js';
import type { Watch } from './feed.js';
import { percent, share, short, whole } from './numbers.js';
import { Rates } from './rates.js';

const STATS = [
  'upstream_rq_total',
  'upstream_rq_5xx',
  'upstream_rq_completed',
  'upstream_rq_active',
  'upstream_rq_pending_overflow',
  'upstream_cx_active',
  'upstream_cx_connect_fail',
  'membership_healthy',
  'membership_total',
] as const;
type Stat = (typeof STATS)[number];
const FILTER = `^cluster\\..*\\.(${STATS.join('|')})$`;
/** Rows that are drawn; the others are counted. */
const ROWS = 100;

interface Cluster {
  readonly name: string;
  readonly requests: number | undefined;
  /** The share of answers 5xx, from 0 to 1. */
  readonly errors: number | undefined;
  readonly active: number;
  readonly connections: number;
  readonly connectFailures: number | undefined;
  readonly overflows: number | undefined;
  readonly healthy: number;
  readonly hosts: number;
}

const rates = new Rates();
let clusters: Cluster[] = [];
let clicked: (name: string) => void = () => undefined;

const isInTrouble = (cluster: Cluster): boolean =>
  cluster.healthy < cluster.hosts ||
  cluster.hosts === 0 ||
  !!cluster.errors ||
  !!cluster.connectFailures ||
  !!cluster.overflows;

const worse = (text: string, isBad: boolean): Node => element('span', text, isBad ? 'bad' : '');

const byRequests: Column<Cluster> = {
  title: 'requests/s',
  key: ({ requests = 0 }) => requests,
  cell: ({ requests }) => short(requests),
};
const COLUMNS: readonly Column<Cluster>[] = [
  {
    title: 'cluster',
    key: ({ name }) => name,
    cell: ({ name }) => button(name, () => clicked(name)),
  },
  {
    title: 'healthy hosts',
    key: ({ healthy, hosts }) => hosts - healthy,
    cell: ({ healthy, hosts }) =>
      worse(`${whole(healthy)} of ${whole(hosts)}`, hosts === 0 || healthy < hosts),
  },
  byRequests,
  {
    title: '5xx',
    key: ({ errors = 0 }) => errors,
    cell: ({ errors }) => worse(percent(errors), !!errors),
  },
  { title: 'under way', key: ({ active }) => active, cell: ({ active }) => whole(active) },
  {
    title: 'connections',
    key: ({ connections }) => connections,
    cell: ({ connections }) => whole(connections),
  },
  {
    title: 'failed connects/s',
    key: ({ connectFailures = 0 }) => connectFailures,
    cell: ({ connectFailures }) => worse(short(connectFailures), !!connectFailures),
  },
  {
    title: 'overflows/s',
    key: ({ overflows = 0 }) => overflows,
    cell: ({ overflows }) => worse(short(overflows), !!overflows),
  },
];

const table = byId('clusters');
const filter = byId<HTMLInputElement>('cluster-filter');
const troubled = byId<HTMLInputElement>('cluster-troubled');
const columns = new SortedColumns(COLUMNS, byRequests, table.querySelector('thead tr')!, show);
filter.addEventListener('input', show);
troubled.addEventListener('change', show);

export const CLUSTERS_WATCH: Watch = {
  everyMs: 2000,
  target: () => valuesTarget(FILTER),
  show: showClusters,
};

/** `show`: called with the name of a cluster that is clicked. */
export function onClusterClick(show: (name: string) => void): void {
  clicked = show;
}

function showClusters(page: string): void {
  rates.add(parseValues(page), performance.now());
  const suffix = '.membership_total';
  clusters = [];
  for (const name of rates.names()) {
    if (name.endsWith(suffix)) clusters.push(read(name.slice('cluster.'.length, -suffix.length)));
  }
  show();
}

function read(name: string): Cluster {
  const value = (stat: Stat): number => rates.value(`cluster.${name}.${stat}`);
  const rate = (stat: Stat): number | undefined => rates.rate(`cluster.${name}.${stat}`);
  return {
    name,
    requests: rate('upstream_rq_total'),
    // Of all answers: those that never reached a host are among the bad ones.
    errors: share(rate('upstream_rq_5xx'), rate('upstream_rq_completed')),
    active: value('upstream_rq_active'),
    connections: value('upstream_cx_active'),
    connectFailures: rate('upstream_cx_connect_fail'),
    overflows: rate('upstream_rq_pending_overflow'),
    healthy: value('membership_healthy'),
    hosts: value('membership_total'),
  };
}

function show(): void {
  const wanted = filter.value.toLowerCase();
  const chosen = clusters.filter(
    (cluster) =>
      cluster.name.toLowerCase().includes(wanted) && (!troubled.checked || isInTrouble(cluster)),
  );
  const rows = columns.sort(chosen).slice(0, ROWS);
  table.querySelector('tbody')!.replaceChildren(...rows.map((one) => row(columns.cells(one))));
  const unhealthy = clusters.filter(isInTrouble).length;
  const shown = rows.length < chosen.length ? `${whole(rows.length)} of ` : '';
  byId('cluster-count').textContent =
    `${shown}${whole(chosen.length)} shown, ${whole(clusters.length)} in all, ` +
    `${whole(unhealthy)} in trouble`;
}

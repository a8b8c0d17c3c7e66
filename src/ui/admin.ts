// What the page asks of the admin server. Addresses are relative: a proxy may put a path before them.

/** Counters and gauges by name. */
export type Values = ReadonlyMap<string, number>;

/** Of one histogram: how many values lay in [lower, lower + width). */
export interface Bin {
  readonly lower: number;
  readonly width: number;
  readonly count: number;
}

export interface ServerInfo {
  readonly version: string;
  readonly state: string;
  readonly uptime_current_epoch: string;
  readonly command_line_options: {
    readonly restart_epoch: number;
    readonly concurrency: number;
    readonly config_path: string;
  };
}

export interface HostStatus {
  readonly address: {
    readonly socket_address?: { readonly address: string; readonly port_value: number };
    readonly pipe?: { readonly path: string };
  };
  readonly stats?: readonly { readonly name: string; readonly value?: string }[];
  readonly health_status?: Readonly<Record<string, unknown>>;
  readonly weight?: number;
  readonly locality?: { readonly zone?: string };
}

export interface ClusterStatus {
  readonly name: string;
  readonly host_statuses?: readonly HostStatus[];
}

interface StatsAnswer {
  readonly stats: readonly {
    readonly name?: string;
    readonly value?: number | string;
    readonly histograms?: { readonly details?: readonly HistogramDetail[] };
  }[];
}

interface HistogramDetail {
  readonly name: string;
  readonly intervals: readonly {
    readonly lower_bound: number;
    readonly width: number;
    readonly count: number;
  }[];
}

/** What a page says; rejects with what it says where that is an error. */
export async function askText(target: string): Promise<string> {
  const answer = await fetch(target);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim() || `${target}: ${answer.status}`);
  return text;
}

const withQuery = (path: string, query: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(query)}`;

export const SERVER_INFO = 'server_info';

export const parseServerInfo = (page: string): ServerInfo => JSON.parse(page) as ServerInfo;

/** Statistics whose name the expression (RE2) finds something in. */
export const valuesTarget = (filter: string): string =>
  withQuery('stats', { format: 'json', filter });

/** Texts are left out. */
export function parseValues(page: string): Values {
  const values = new Map<string, number>();
  for (const { name, value } of (JSON.parse(page) as StatsAnswer).stats) {
    if (name !== undefined && typeof value === 'number') values.set(name, value);
  }
  return values;
}

export const histogramsTarget = (filter: string): string =>
  withQuery('stats', { format: 'json', type: 'Histograms', histogram_buckets: 'detailed', filter });

/** By name: what came since the last flush. */
export function parseHistograms(page: string): ReadonlyMap<string, readonly Bin[]> {
  const { stats } = JSON.parse(page) as StatsAnswer;
  const details = stats.flatMap(({ histograms }) => histograms?.details ?? []);
  return new Map(
    details.map(({ name, intervals }) => [
      name,
      intervals.map(({ lower_bound, width, count }) => ({ lower: lower_bound, width, count })),
    ]),
  );
}

export const clusterTarget = (name: string): string =>
  withQuery('clusters', { format: 'json', filter: `^${name.replace(/[^\w-]/g, '\\$&')}$` });

export function parseCluster(page: string, name: string): ClusterStatus | undefined {
  const answer = JSON.parse(page) as { cluster_statuses?: readonly ClusterStatus[] };
  return answer.cluster_statuses?.find((cluster) => cluster.name === name);
}

/** "name: value" lines of statistics of every kind. */
export async function searchStats(filter: string): Promise<readonly string[]> {
  const text = await askText(withQuery('stats', { filter }));
  return text.split('\n').filter((line) => line !== '');
}

export const readConfig = async (): Promise<unknown> => JSON.parse(await askText('config_dump'));

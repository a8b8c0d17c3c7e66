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

async function ask<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const answer = await fetch(`${path}?${new URLSearchParams(query)}`);
  if (!answer.ok) throw new Error((await answer.text()).trim() || `${path}: ${answer.status}`);
  return (await answer.json()) as T;
}

export const readServerInfo = (): Promise<ServerInfo> => ask('server_info');

/** Statistics whose name the expression (RE2) finds something in. Texts are left out. */
export async function readValues(filter: string): Promise<Values> {
  const { stats } = await ask<StatsAnswer>('stats', { format: 'json', filter });
  const values = new Map<string, number>();
  for (const { name, value } of stats) {
    if (name !== undefined && typeof value === 'number') values.set(name, value);
  }
  return values;
}

/** By name: what came since the last flush. */
export async function readHistograms(filter: string): Promise<ReadonlyMap<string, readonly Bin[]>> {
  const { stats } = await ask<StatsAnswer>('stats', {
    format: 'json',
    type: 'Histograms',
    histogram_buckets: 'detailed',
    filter,
  });
  const details = stats.flatMap(({ histograms }) => histograms?.details ?? []);
  return new Map(
    details.map(({ name, intervals }) => [
      name,
      intervals.map(({ lower_bound, width, count }) => ({ lower: lower_bound, width, count })),
    ]),
  );
}

export async function readCluster(name: string): Promise<ClusterStatus | undefined> {
  const filter = `^${name.replace(/[^\w-]/g, '\\$&')}$`;
  const answer = await ask<{ cluster_statuses?: readonly ClusterStatus[] }>('clusters', {
    format: 'json',
    filter,
  });
  return answer.cluster_statuses?.find((cluster) => cluster.name === name);
}

/** "name: value" lines of statistics of every kind. */
export async function searchStats(filter: string): Promise<readonly string[]> {
  const answer = await fetch(`stats?${new URLSearchParams({ filter })}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim());
  return text.split('\n').filter((line) => line !== '');
}

export const readConfig = (): Promise<unknown> => ask('config_dump');

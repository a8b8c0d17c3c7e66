// What discovery has made of a proxy: statistics and pages that tell of resources, one line each, without
// what differs between two plays of the same updates.
import { until } from './waits.js';
import type { StartedProxy } from './start-proxy.js';

const STATS =
  /^(cluster_manager|listener_manager|runtime|sds|control_plane|http\.[^.]+\.(rds|scoped_rds|extension_config_discovery|vhds)|extension_config_discovery|cluster\.(?!plane)[^.]+\.(update_|membership_|assignment_|init_fetch|max_host_weight|version|warming_state))/;
/** Times, and what depends on them. */
const OTHERS =
  /(_time|_time_ms|_duration|duration_ms|\.version|workers_started|worker_\d+.*|identifier):/;
const DUMPS = [
  'dynamic_active_clusters',
  'dynamic_warming_clusters',
  'dynamic_listeners',
  'dynamic_route_configs',
  'dynamic_scoped_route_configs',
  'dynamic_endpoint_configs&include_eds',
];
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then'],
  [/"details":"(?:[^"\\]|\\.)*"/g, '"details":"why"'],
];

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** With keys in one order. */
function ordered(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(ordered);
  if (value === null || typeof value !== 'object') return value;
  const all = Object.entries(value).map(([key, one]) => [key, ordered(one)] as const);
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Resolves once nothing drains or warms any more. `ports`: what is written in place of each. */
export async function discoveredState(
  { adminUrl }: StartedProxy,
  ports: ReadonlyMap<number, string>,
): Promise<readonly string[]> {
  const read = async (path: string): Promise<string> => (await fetch(adminUrl + path)).text();
  const busy = /(_draining|listeners_warming|warming_clusters): [1-9]/;
  await until(async () => !busy.test(await read('/stats')), 'the end of what drains');
  const named = (text: string): string => {
    let told = text;
    for (const [port, name] of ports)
      told = told.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), name);
    for (const [pattern, one] of REPLACED) told = told.replaceAll(pattern, one);
    return told;
  };
  const lines = (await read('/stats'))
    .split('\n')
    .filter((line) => STATS.test(line) && !OTHERS.test(line) && !/ (P0|No rec)/.test(line));
  for (const resource of DUMPS) {
    const { configs = [] } = JSON.parse(await read(`/config_dump?resource=${resource}`)) as {
      readonly configs?: readonly Json[];
    };
    lines.push(...configs.map((one) => `${resource} ${JSON.stringify(ordered(one))}`));
  }
  const hosts = await read('/clusters');
  lines.push(
    ...hosts
      .split('\n')
      .filter((line) =>
        /^(?!plane).*::(weight|health_flags|priority|zone|added_via_api)::/.test(line),
      ),
  );
  return lines.map(named).sort();
}

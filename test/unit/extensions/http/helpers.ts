// Chains of HTTP filters as they are compiled.
import type { Any } from '../../../../build/messages.gen.js';
import type { Route } from '../../../../src/plan/plan.gen.js';
import {
  any,
  compileStatic,
  connectionManager,
  issuesOf,
  listenerOf,
  ROUTER,
} from '../../plan/helpers.js';

export const HEALTH_CHECK = 'envoy.extensions.filters.http.health_check.v3.HealthCheck';
export const FILTER_CONFIG = 'envoy.config.route.v3.FilterConfig';

export const check = (name: string, fields: object = {}, filter: object = {}) => ({
  name,
  typed_config: any(HEALTH_CHECK, { pass_through_mode: false, ...fields }),
  ...filter,
});
export const OFF = any(FILTER_CONFIG, { disabled: true });
export const ON = any(FILTER_CONFIG, { config: {} });

type Configs = Readonly<Record<string, Any>>;
interface Toggles {
  readonly table?: Configs;
  readonly host?: Configs;
  readonly route?: Configs;
  readonly weighted?: Configs;
  /** Of the older fields. */
  readonly hostCors?: object;
  readonly routeCors?: object;
}

export function compiled(filters: readonly object[], toggles: Toggles = {}) {
  const action = {
    ...(toggles.routeCors && { cors: toggles.routeCors }),
    weighted_clusters: {
      clusters: [{ name: 'web', weight: 1, typed_per_filter_config: toggles.weighted ?? {} }],
    },
  };
  const route = {
    match: { prefix: '/' },
    ...(toggles.weighted || toggles.routeCors
      ? { route: action }
      : { direct_response: { status: 200 } }),
    typed_per_filter_config: toggles.route ?? {},
  };
  const host = {
    name: 'all',
    domains: ['*'],
    routes: [route],
    typed_per_filter_config: toggles.host ?? {},
    ...(toggles.hostCors && { cors: toggles.hostCors }),
  };
  const route_config = { virtual_hosts: [host], typed_per_filter_config: toggles.table ?? {} };
  const manager = connectionManager(route_config, { http_filters: [...filters, ROUTER] });
  const result = compileStatic({ listeners: [listenerOf(manager)] });
  const { update } = result;
  return {
    issues: issuesOf(result),
    filters: update.listeners?.[0]?.filter_chains?.[0]?.http?.http_filters,
    route: (update.route_tables?.[0]?.virtual_hosts?.[0]?.routes?.[0] as Route | undefined) ?? {},
    configs: update.route_tables?.[0]?.filter_configs,
    taps: result.taps,
  };
}

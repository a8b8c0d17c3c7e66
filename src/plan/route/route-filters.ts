// typed_per_filter_config: what a table, a virtual host, a route or a weighted cluster says of the
// HTTP filters before the router, by their names: off, on, or with what configuration.
import type {
  Any,
  envoy_config_route_v3_FilterConfig as FilterConfig,
} from '../../../build/messages.gen.js';
import type { ChainFilter } from '../chain-filter.js';
import type { CompileContext } from '../extension.js';
import { isKnown } from '../known-extensions.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { RouteFilter, TryFilterConfig } from '../plan.gen.js';
import { CORS_FILTER } from './cors-policy.js';
import { LOCAL_RATELIMIT, RATELIMIT } from './rate-limits.js';
import type { FilterOverride, FilterOverrides, RouteScope } from './route-scope.js';

const FILTER_CONFIG = supportedFields<FilterConfig>('envoy.config.route.v3.FilterConfig', [
  'config',
  'is_optional',
  'disabled',
]);

type FilterScope = Pick<RouteScope, 'context' | 'addFilterConfig' | 'statPrefix'>;

export function readFilterOverrides(
  configs: Readonly<Record<string, Any>> | undefined,
  place: Place,
  scope: FilterScope,
): FilterOverrides {
  const byName = new Map<string, FilterOverride>();
  for (const [name, config] of Object.entries(configs ?? {})) {
    const at = place.field(`typed_per_filter_config["${name}"]`);
    const override = readOverride(name, config, at, scope);
    if (override) byName.set(name, override);
  }
  return { byName };
}

/** Undefined after an error, and where there is nothing to be said. */
function readOverride(
  name: string,
  message: Any,
  place: Place,
  scope: FilterScope,
): FilterOverride | undefined {
  if (message.$type !== FILTER_CONFIG.type) return readConfig(name, message, place, scope, false);
  refuseOtherFields(place, message, FILTER_CONFIG);
  const { config, disabled, is_optional: isOptional } = message as FilterConfig;
  if (disabled) return { disabled: true };
  if (config === undefined) {
    place.error(`Empty route/virtual host per filter configuration for ${name} filter`, {
      expected: 'disabled: true, or config: {}',
    });
    return undefined;
  }
  if (!config.$type) return { disabled: false };
  return readConfig(name, config, place.field('config'), scope, isOptional ?? false);
}

function readConfig(
  name: string,
  message: Any,
  place: Place,
  { context, addFilterConfig, statPrefix }: FilterScope,
  isOptional: boolean,
): FilterOverride | undefined {
  const type = message.$type;
  const filter = context.extensions.httpFilters.find(
    (each) => each.type === type || each.byRoute?.type === type,
  );
  if (!filter) {
    refuseUnknown(name, type, place, context, isOptional);
    return undefined;
  }
  if (filter.isDisabled) {
    place.error(`${unregistered(name, type)}: --disable-extensions disables it`);
  } else if (!filter.byRoute) {
    if (!isOptional) {
      place.error(
        `The filter ${name} doesn't support virtual host or route specific configurations`,
        { expected: `${FILTER_CONFIG.type}, to switch the filter off or on` },
      );
    }
  } else if (filter.byRoute.type !== type) {
    place.error(`Unable to unpack as ${filter.byRoute.type}: [type.googleapis.com/${type}]`, {
      expected: filter.byRoute.type,
    });
  } else {
    const config = filter.byRoute.compile(message, place, context);
    const whole = config?.match
      ? { ...config, match: { ...config.match, stat_prefix: statPrefix } }
      : config;
    const isForTries = context.extensions.upstreamHttpFilters.some(
      ({ byRoute }) => byRoute?.type === type,
    );
    return { disabled: false, config: whole && addFilterConfig(whole), isForTries };
  }
  return undefined;
}

const unregistered = (name: string, type: string): string =>
  `Didn't find a registered implementation for '${name}' with type URL: '${type}'`;

function refuseUnknown(
  name: string,
  type: string,
  place: Place,
  { extensions }: CompileContext,
  isOptional: boolean,
): void {
  const types = extensions.httpFilters.flatMap(({ byRoute }) => byRoute?.type ?? []);
  const expected = `one of ${[FILTER_CONFIG.type, ...types].join(', ')}`;
  // What only fairlead does not know is refused, optional or not.
  if (isKnown('httpFilters', type) || type.startsWith('envoy.')) {
    place.error(`the configuration of filters by route is not supported yet (${type})`, {
      expected,
    });
  } else if (isOptional) {
    place.warn(`${unregistered(name, type)}: left out, as it is optional`, { expected });
  } else {
    place.error(unregistered(name, type), { expected });
  }
}

/**
 * What the data plane has to know of a route. `levels`: from the table to the most specific one.
 * Whatever speaks of a filter there last says whether it is on.
 */
export function compileRouteFilters(
  levels: readonly FilterOverrides[],
  chain: readonly ChainFilter[],
): RouteFilter[] {
  return chain.flatMap(({ name, type }, filter): RouteFilter[] => {
    const overrides = levels.flatMap((level) => level.byName.get(name) ?? []).toReversed();
    const own = overrides.flatMap(({ config }) => config ?? []);
    const older = type === CORS_FILTER ? levels.flatMap(({ cors }) => cors ?? []).toReversed() : [];
    const limits =
      type === LOCAL_RATELIMIT || type === RATELIMIT
        ? levels.flatMap(({ rateLimits }) => rateLimits ?? [])
        : [];
    const configs = [...(own.length > 0 ? own : older), ...limits];
    const disabled = overrides[0]?.disabled;
    if (disabled === undefined && configs.length === 0) return [];
    return [{ filter, disabled, configs }];
  });
}

/** The same of the filters that tries pass on their way to hosts, whichever cluster has them. */
export function compileTryFilters(levels: readonly FilterOverrides[]): TryFilterConfig[] {
  const names = new Set(levels.flatMap(({ byName }) => [...byName.keys()]));
  return [...names].flatMap((name): TryFilterConfig[] => {
    const overrides = levels.flatMap(({ byName }) => byName.get(name) ?? []).toReversed();
    const configs = overrides.flatMap(({ config, isForTries }) =>
      isForTries && config !== undefined ? config : [],
    );
    const isSwitched = overrides.some(({ config }) => config === undefined);
    if (!isSwitched && configs.length === 0) return [];
    return [{ name, disabled: overrides[0]?.disabled, configs }];
  });
}

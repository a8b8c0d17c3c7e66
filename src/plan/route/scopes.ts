// Routes by scopes (envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes): a table
// that names other tables, by a key that is made of a request's headers.
import type {
  envoy_config_route_v3_ScopedRouteConfiguration as ScopedRouteConfiguration,
  envoy_config_route_v3_ScopedRouteConfiguration_Key_Fragment as KeyFragment,
  envoy_extensions_filters_network_http_connection_manager_v3_ScopedRds as ScopedRds,
  envoy_extensions_filters_network_http_connection_manager_v3_ScopedRoutes as ScopedRoutes,
  envoy_extensions_filters_network_http_connection_manager_v3_ScopedRoutes_ScopeKeyBuilder as KeyBuilder,
  envoy_extensions_filters_network_http_connection_manager_v3_ScopedRoutes_ScopeKeyBuilder_FragmentBuilder_HeaderValueExtractor as Extractor,
} from '../../../build/messages.gen.js';
import type { ChainFilter } from '../chain-filter.js';
import { compileCollection } from '../collections.js';
import { compileConfigSource } from '../config-source.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { RouteScope, ScopeFragment } from '../plan.gen.js';
import type { Collected } from '../sources.js';
import { compileRouteTable } from './route-table.js';

const PACKAGE = 'envoy.extensions.filters.network.http_connection_manager.v3';
const SCOPED = supportedFields<ScopedRoutes>(`${PACKAGE}.ScopedRoutes`, [
  'name',
  'scope_key_builder',
  'rds_config_source',
  'scoped_route_configurations_list',
  'scoped_rds',
]);
const SRDS = supportedFields<ScopedRds>(`${PACKAGE}.ScopedRds`, [
  'scoped_rds_config_source',
  'srds_resources_locator',
]);
const EXTRACTOR = supportedFields<Extractor>(
  `${PACKAGE}.ScopedRoutes.ScopeKeyBuilder.FragmentBuilder.HeaderValueExtractor`,
  ['name', 'element_separator', 'index', 'element'],
);
export const SCOPE = supportedFields<ScopedRouteConfiguration>(
  'envoy.config.route.v3.ScopedRouteConfiguration',
  ['name', 'route_configuration_name', 'key', 'on_demand', 'route_configuration'],
);
const ROUTES = 'envoy.config.route.v3.RouteConfiguration';
const SCOPES = 'envoy.config.route.v3.ScopedRouteConfiguration';

/** The name of the table; '' after an error. */
export function compileScopedRoutes(
  config: ScopedRoutes,
  statPrefix: string,
  place: Place,
  chain: readonly ChainFilter[],
  context: CompileContext,
): string {
  refuseOtherFields(place, config, SCOPED);
  const fragments = compileKeyBuilder(config.scope_key_builder, place.field('scope_key_builder'));
  const routes = compileConfigSource(
    config.rds_config_source,
    ROUTES,
    place.field('rds_config_source'),
    // As the real server: nobody looks before a scope asks.
    { ...context, mayFileBeAway: true },
  );
  const { name = '' } = config;
  if (config.scoped_rds) {
    const at = place.field('scoped_rds');
    const collected = compileSource(config.scoped_rds, at, context);
    if (!collected || (config.rds_config_source && !routes)) return '';
    return context.routes.requestScopes({
      ...{ name, ...collected, statPrefix, fragments, chain },
      ...(routes && { routes }),
    });
  }
  const at = place.field('scoped_route_configurations_list').field('scoped_route_configurations');
  const list = config.scoped_route_configurations_list?.scoped_route_configurations ?? [];
  refuseSameScopes(list, (index) => at.index(index));
  const scopes = list.map((scope, index): RouteScope => {
    const own = at.index(index);
    refuseOtherFields(own, scope, SCOPE);
    checkInlineRoutes(scope, own);
    return {
      key: keyOf(scope),
      route_table: tableOf(scope, own, { statPrefix, chain }, context),
    };
  });
  return context.routes.add({ name, scoped_routes: { fragments, scopes } });
}

/** A scope of a fixed list has its routes with it. */
function checkInlineRoutes(scope: ScopedRouteConfiguration, place: Place): void {
  if (scope.route_configuration_name) {
    place
      .field('route_configuration_name')
      .error(
        'Fetching routes via RDS (route_configuration_name) is not supported with inline scoped routes.',
        { expected: 'route_configuration' },
      );
  } else if (!scope.route_configuration) {
    place.error('You must specify a route_configuration with inline scoped routes.');
  }
}

/** Undefined after an error. */
function compileSource(
  config: ScopedRds,
  place: Place,
  context: CompileContext,
): Collected | undefined {
  refuseOtherFields(place, config, SRDS);
  const { scoped_rds_config_source: message, srds_resources_locator: locator = '' } = config;
  const at = place.field('scoped_rds_config_source');
  if (locator !== '') {
    const where = place.field('srds_resources_locator');
    return compileCollection(locator, SCOPES, where, { message, place: at }, context);
  }
  const source = compileConfigSource(message, SCOPES, at, context);
  return source && { source };
}

/** '' after an error. */
function tableOf(
  { route_configuration: table }: ScopedRouteConfiguration,
  place: Place,
  use: ScopeUse,
  context: CompileContext,
): string {
  if (!table) return '';
  const at = place.field('route_configuration');
  const options = { validatesClusters: true, ...use };
  return context.routes.add(compileRouteTable(table, at, context, options));
}

interface ScopeUse {
  readonly statPrefix: string;
  readonly chain: readonly ChainFilter[];
}

/** Keys are told apart by their texts. */
export const keyOf = ({ key }: ScopedRouteConfiguration): string[] =>
  (key?.fragments ?? []).map(({ string_key = '' }: KeyFragment) => string_key);

/** An error at each that has the name or key of another. */
export function refuseSameScopes(
  scopes: readonly ScopedRouteConfiguration[],
  placeOf: (index: number) => Place,
): void {
  const names = new Set<string>();
  const owners = new Map<string, string>();
  scopes.forEach((scope, index) => {
    const { name = '' } = scope;
    const at = placeOf(index);
    if (names.has(name)) at.error(`duplicate scoped route configuration '${name}' found`);
    names.add(name);
    const key = JSON.stringify(keyOf(scope));
    const owner = owners.get(key);
    if (owner !== undefined && owner !== name) {
      at.error(`scope key conflict found, first scope is '${owner}', second scope is '${name}'`);
    }
    if (owner === undefined) owners.set(key, name);
  });
}

function compileKeyBuilder(builder: KeyBuilder | undefined, place: Place): ScopeFragment[] {
  const at = place.field('fragments');
  return (builder?.fragments ?? []).map(({ header_value_extractor: extractor = {} }, index) => {
    const own = at.index(index).field('header_value_extractor');
    refuseOtherFields(own, extractor, EXTRACTOR);
    const { name = '', element_separator: separator = '', element } = extractor;
    if (extractor.index === undefined && !element) {
      own.error('HeaderValueExtractor extract_type not set.', { expected: 'index, or element' });
    }
    if (separator === '' && (extractor.index ?? 0) > 0) {
      own.error(`Index > 0 for empty string element separator. Index: ${extractor.index ?? 0}`);
    }
    return {
      header: name.toLowerCase(),
      element_separator: separator,
      index: extractor.index ?? 0,
      ...(element && { key_separator: element.separator ?? '', key: element.key ?? '' }),
    };
  });
}

// Where a configuration says that resources come from as a collection: a locator, beside a source.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_core_v3_ConfigSource as ConfigSource,
} from '../../build/messages.gen.js';
import { checkBacking, compileConfigSource } from './config-source.js';
import type { SourceContext } from './grpc/api-config-source.js';
import type { Place } from './message/place.js';
import { encodeContext, parseResourceName, writeResourceName } from './resource-name.js';
import type { Collected, Source } from './sources.js';

export type NodeContext = ReadonlyMap<string, string>;

const LOCAL_FILE = 'file://';
/** What the real server knows of a node as well. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'user_agent_version',
  'user_agent_build_version.version',
  'user_agent_build_version.metadata',
]);
const ONLY_DELTA =
  'Missing or not supported config source specifier in envoy::config::core::v3::ConfigSource for a ' +
  'collection. Only ADS and gRPC in delta-xDS mode are supported.';

/** `locator`: a URL. `place`: of the locator; `config`: of the source. Undefined after an error. */
export function compileCollection(
  locator: string,
  type: string,
  place: Place,
  config: { readonly message: ConfigSource | undefined; readonly place: Place },
  context: SourceContext & { readonly isAdsDelta: boolean; readonly nodeContext: NodeContext },
): Collected | undefined {
  if (locator.startsWith(LOCAL_FILE)) {
    const path = decodeURIComponent(locator.slice(LOCAL_FILE.length));
    if (!checkBacking(path, place)) return undefined;
    return { source: { kind: 'file', path, watchesWrites: false, isCollection: true } };
  }
  const name = parseResourceName(locator);
  if (!name) {
    place.error(whatIsWrong(locator), { expected: 'xdstp://AUTHORITY/TYPE/ID/* or file:///PATH' });
    return undefined;
  }
  if (name.type !== type) {
    place.error(`xdstp:// type does not match ${type} in ${locator}`, { expected: type });
    return undefined;
  }
  const source = compileSource(config.message, type, config.place, context);
  if (!source) return undefined;
  const own = new Map([...context.nodeContext, ...name.context]);
  return { source, collection: writeResourceName({ ...name, context: own }) };
}

function whatIsWrong(locator: string): string {
  if (locator.startsWith('http')) return `${locator}: collections over HTTP are not supported`;
  return locator.startsWith('xdstp:')
    ? `Resource type missing from / in ${locator}`
    : `${locator} does not have a xdstp:, http: or file: scheme`;
}

function compileSource(
  message: ConfigSource | undefined,
  type: string,
  place: Place,
  context: SourceContext & { readonly isAdsDelta: boolean },
): Source | undefined {
  const api = message?.api_config_source;
  const isAggregated = api?.api_type?.startsWith('AGGREGATED') ?? false;
  if (!message || (!message.ads && !api)) {
    place.error(ONLY_DELTA, { expected: 'ads or api_config_source' });
    return undefined;
  }
  const asked = isAggregated ? { ads: {}, resource_api_version: 'V3' as const } : message;
  const source = compileConfigSource(asked, type, place, context);
  if (!source) return undefined;
  const isDelta =
    source.kind === 'ads' ? context.isAdsDelta : source.kind === 'grpc' && source.stream.isDelta;
  if (isDelta) return source;
  const start = context.start?.field(place.path) ?? place;
  if (source.kind === 'ads') start.error(ONLY_DELTA, { expected: 'ads_config with DELTA_GRPC' });
  else place.error('Unknown xdstp:// transport API type', { expected: 'DELTA_GRPC' });
  return undefined;
}

/** What the bootstrap wants to be told of the node with each collection. */
export function compileNodeContext(
  { node_context_params: wanted = [] }: Bootstrap,
  node: Bootstrap['node'],
  place: Place,
): NodeContext {
  const context = new Map<string, string>();
  const { locality = {}, metadata = {} } = node ?? {};
  const known: Readonly<Record<string, string | undefined>> = {
    id: node?.id,
    cluster: node?.cluster,
    user_agent_name: node?.user_agent_name || 'envoy',
    'locality.region': locality.region,
    'locality.zone': locality.zone,
    'locality.sub_zone': locality.sub_zone,
  };
  wanted.forEach((field, index) => {
    if (field === 'metadata') {
      for (const [key, value] of Object.entries(metadata)) {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        context.set(`xds.node.metadata.${encodeContext(key)}`, encodeContext(text));
      }
      return;
    }
    if (Object.hasOwn(known, field)) {
      const value = known[field];
      if (value) context.set(`xds.node.${field}`, encodeContext(value));
      return;
    }
    const hint = { expected: `one of ${Object.keys(known).join(', ')}, metadata` };
    const at = place.index(index);
    if (UNSUPPORTED.has(field)) {
      at.error(`${field} of the node as a context parameter is not supported`, hint);
    } else {
      at.warn(`has no effect: a node has no '${field}'`, hint);
    }
  });
  return context;
}

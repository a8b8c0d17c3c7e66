// An HTTP filter whose configuration comes later (envoy.config.core.v3.ExtensionConfigSource).
import type {
  Any,
  envoy_config_core_v3_ExtensionConfigSource as ExtensionConfigSource,
} from '../../../build/messages.gen.js';
import { compileConfigSource } from '../../plan/config-source.js';
import { nextDiscoveredId } from '../../plan/discovered.js';
import { findExtension, type CompileContext } from '../../plan/extension.js';
import { isKnown } from '../../plan/known-extensions.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { HttpFilter } from '../../plan/plan.gen.js';

const DISCOVERY = supportedFields<ExtensionConfigSource>(
  'envoy.config.core.v3.ExtensionConfigSource',
  ['config_source', 'default_config', 'apply_default_config_without_warming', 'type_urls'],
);
const EXTENSION = 'envoy.config.core.v3.TypedExtensionConfig';
const PREFIX = 'type.googleapis.com/';

/** Undefined after an error. */
export function compileDiscoveredFilter(
  name: string,
  config: ExtensionConfigSource,
  place: Place,
  context: CompileContext,
): HttpFilter | undefined {
  refuseOtherFields(place, config, DISCOVERY);
  const types = (config.type_urls ?? []).map(typeOf);
  const areTypesKnown = types
    .map((type, index) => checkType(type, place.field('type_urls').index(index), context))
    .every((isGood) => isGood);
  if (config.apply_default_config_without_warming && !config.default_config) {
    place.error(`Error: filter config ${name} applied without warming but has no default config.`, {
      expected: 'default_config',
    });
    return undefined;
  }
  const compile = (message: Any, at: Place): HttpFilter | undefined =>
    compileFilter(name, message, types, at, context);
  const source = compileConfigSource(
    config.config_source,
    EXTENSION,
    place.field('config_source'),
    context,
  );
  if (!areTypesKnown || !source) return undefined;
  const fallback =
    config.default_config && compile(config.default_config, place.field('default_config'));
  if (config.default_config && !fallback) return undefined;
  const id = nextDiscoveredId();
  const needsNoWarming = config.apply_default_config_without_warming ?? false;
  context.discovered.add({
    ...{ id, name, source, types, needsNoWarming, compile },
    ...(fallback && { fallback }),
  });
  return { discovered: { id, filter: fallback && needsNoWarming ? [fallback] : [] } };
}

const typeOf = (url: string): string => (url.startsWith(PREFIX) ? url.slice(PREFIX.length) : url);

function checkType(type: string, place: Place, { extensions }: CompileContext): boolean {
  const found = extensions.httpFilters.find((one) => one.type === type);
  if (found && !found.isDisabled && found.name !== 'envoy.filters.http.router') return true;
  if (found && !found.isDisabled) {
    place.error(`the router (${type}) by config_discovery is not supported`);
  } else if (!found && isKnown('httpFilters', type)) {
    place.error(`the extension ${type} is not supported yet`);
  } else {
    place.error(`Error: no factory found for a required type URL ${PREFIX}${type}.`);
  }
  return false;
}

function compileFilter(
  name: string,
  message: Any,
  types: readonly string[],
  place: Place,
  context: CompileContext,
): HttpFilter | undefined {
  const { $type } = message;
  if (!types.includes($type)) {
    place.error(
      `Error: filter config has type URL ${PREFIX}${$type} but expect ${types.map((type) => PREFIX + type).join(', ')}.`,
    );
    return undefined;
  }
  const extension = findExtension(context, 'httpFilters', { name, typed_config: message }, place);
  const plan = extension?.compile(message, place, context);
  return plan && !('router' in plan) ? { ...plan, name } : undefined;
}

// typed_per_filter_config: which HTTP filters a route, its virtual host or its table switches off or on.
import type {
  Any,
  envoy_config_route_v3_FilterConfig as FilterConfig,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import type { FilterToggle } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const FILTER_CONFIG = supportedFields<FilterConfig>('envoy.config.route.v3.FilterConfig', [
  'config',
  'is_optional',
  'disabled',
]);

/** By the filter's name: true switches it off, false on. */
export type FilterToggles = ReadonlyMap<string, boolean>;

export function readFilterToggles(
  configs: Readonly<Record<string, Any>> | undefined,
  place: Place,
  context: CompileContext,
): FilterToggles {
  const toggles = new Map<string, boolean>();
  for (const [name, config] of Object.entries(configs ?? {})) {
    const isOff = readToggle(
      name,
      config,
      place.field(`typed_per_filter_config["${name}"]`),
      context,
    );
    if (isOff !== undefined) toggles.set(name, isOff);
  }
  return toggles;
}

/** Undefined after an error. */
function readToggle(
  name: string,
  message: Any,
  place: Place,
  { extensions }: CompileContext,
): boolean | undefined {
  const refuse = (type: string): undefined => {
    const isKnown = extensions.httpFilters.some((filter) => filter.type === type);
    place.error(
      isKnown
        ? `The filter ${name} doesn't support virtual host or route specific configurations`
        : `the configuration of filters by route is not supported yet (${type})`,
      { expected: `${FILTER_CONFIG.type}, to switch the filter off or on` },
    );
    return undefined;
  };
  if (message.$type !== FILTER_CONFIG.type) return refuse(message.$type);
  refuseOtherFields(place, message, FILTER_CONFIG);
  const { config, disabled } = message as FilterConfig;
  if (disabled) return true;
  if (config === undefined) {
    place.error(`Empty route/virtual host per filter configuration for ${name} filter`, {
      expected: 'disabled: true, or config: {}',
    });
    return undefined;
  }
  return config.$type ? refuse(config.$type) : false;
}

/** Of several the last counts that speaks of a filter. `names`: the filters, in their order. */
export function compileFilterToggles(
  layers: readonly FilterToggles[],
  names: readonly string[],
): FilterToggle[] {
  return names.flatMap((name, filter): FilterToggle[] => {
    const disabled = layers.findLast((layer) => layer.has(name))?.get(name);
    return disabled === undefined ? [] : [{ filter, disabled }];
  });
}

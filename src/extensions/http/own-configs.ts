// A filter of a chain is also found by the message that routes have of it: the real server knows both
// types, and reads the one as the other.
import type { envoy_extensions_filters_network_http_connection_manager_v3_HttpFilter as HttpFilter } from '../../../build/messages.gen.js';
import type { CompileContext } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';

/** The same filters, each with a message of its own type. */
export function withOwnConfigs(
  filters: readonly HttpFilter[],
  place: Place,
  { extensions }: Pick<CompileContext, 'extensions'>,
): readonly HttpFilter[] {
  return filters.map((filter, index) => {
    const { $type = '', ...fields } = filter.typed_config ?? {};
    const { httpFilters } = extensions;
    const found = httpFilters.find(
      ({ type, byRoute }) => byRoute?.type === $type && type !== $type,
    );
    if (!found) return filter;
    if (Object.keys(fields).length > 0) {
      place
        .index(index)
        .field('typed_config')
        .error(`Unable to unpack as ${found.type}: ${$type} is what routes have of it`, {
          expected: found.type,
        });
    }
    return { ...filter, typed_config: { $type: found.type } };
  });
}

// envoy.filters.http.set_filter_state
import type { envoy_extensions_filters_http_set_filter_state_v3_Config as Message } from '../../../build/messages.gen.js';
import { defineHttpFilter, type CompileContext } from '../../plan/extension.js';
import { compileStateValues } from '../../plan/filter-state.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SetFilterState } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.http.set_filter_state.v3.Config',
  ['on_request_headers', 'clear_route_cache'],
);

export const setFilterState = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.set_filter_state',
  type: FIELDS.type,
  compile: (config, place, context) => ({ set_filter_state: compile(config, place, context) }),
  byRoute: {
    type: FIELDS.type,
    compile: (config, place, context) => ({ set_filter_state: compile(config, place, context) }),
  },
});

function compile(config: Message, place: Place, context: CompileContext): SetFilterState {
  refuseOtherFields(place, config, FIELDS);
  return {
    values: compileStateValues(
      config.on_request_headers,
      place.field('on_request_headers'),
      'header',
      context,
    ),
    clears_route: config.clear_route_cache,
  };
}

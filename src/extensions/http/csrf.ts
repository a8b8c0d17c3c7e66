// envoy.filters.http.csrf: a chain and its routes configure it by the same message.
import type { envoy_extensions_filters_http_csrf_v3_CsrfPolicy as Message } from '../../../build/messages.gen.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { compileStringMatcher } from '../../plan/match/matchers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { CsrfPolicy } from '../../plan/plan.gen.js';
import { compileShare } from '../../plan/runtime/shares.js';

const FIELDS = supportedFields<Message>('envoy.extensions.filters.http.csrf.v3.CsrfPolicy', [
  'filter_enabled',
  'shadow_enabled',
  'additional_origins',
]);

export const csrf = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.csrf',
  type: FIELDS.type,
  compile: (config, place, context) => ({ csrf: compile(config, place, context) }),
  byRoute: {
    type: FIELDS.type,
    compile: (config, place, context) => ({ csrf: compile(config, place, context) }),
  },
});

function compile(config: Message, place: Place, context: CompileContext): CsrfPolicy {
  refuseOtherFields(place, config, FIELDS);
  const at = place.field('additional_origins');
  return {
    enabled: compileShare(config.filter_enabled, context),
    shadow: compileShare(config.shadow_enabled, context),
    additional_origins: (config.additional_origins ?? []).flatMap(
      (origin, index) => compileStringMatcher(origin, at.index(index)) ?? [],
    ),
  };
}

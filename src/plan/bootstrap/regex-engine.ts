// The bootstrap's default_regex_engine: RE2's is the only one that there is, and patterns are read as it
// reads them in any case.
import type { envoy_config_core_v3_TypedExtensionConfig as TypedConfig } from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';

const GOOGLE_RE2 = 'envoy.extensions.regex_engines.v3.GoogleRE2';

export function checkRegexEngine(config: TypedConfig | undefined, place: Place): void {
  const type = config?.typed_config?.$type ?? '';
  if (!config || type === GOOGLE_RE2) return;
  const name = config.name ?? '';
  const at = type === '' ? place : place.field('typed_config');
  at.error(`Didn't find a registered implementation for '${name}' with type URL: '${type}'`, {
    expected: `typed_config: {"@type": "type.googleapis.com/${GOOGLE_RE2}"}`,
  });
}

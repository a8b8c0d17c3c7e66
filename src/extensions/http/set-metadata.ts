// envoy.filters.http.set_metadata
import type {
  envoy_extensions_filters_http_set_metadata_v3_Config as Message,
  envoy_extensions_filters_http_set_metadata_v3_Metadata as Metadata,
} from '../../../build/messages.gen.js';
import { encodeAny } from '../../config/encode.js';
import { defineHttpFilter } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SetMetadata } from '../../plan/plan.gen.js';

const PACKAGE = 'envoy.extensions.filters.http.set_metadata.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.Config`, [
  'metadata_namespace',
  'value',
  'metadata',
]);
const ENTRY = supportedFields<Metadata>(`${PACKAGE}.Metadata`, [
  'metadata_namespace',
  'allow_overwrite',
  'value',
  'typed_value',
]);

export const setMetadata = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.set_metadata',
  type: FIELDS.type,
  compile: (config, place) => ({ set_metadata: compile(config, place) }),
  byRoute: {
    type: FIELDS.type,
    compile: (config, place) => ({ set_metadata: compile(config, place) }),
  },
});

function compile(config: Message, place: Place): SetMetadata {
  refuseOtherFields(place, config, FIELDS);
  const { metadata = [], value } = config;
  metadata.forEach((entry, index) =>
    refuseOtherFields(place.field('metadata').index(index), entry, ENTRY),
  );
  // The older way to say the same.
  const older: readonly Metadata[] = value
    ? [{ metadata_namespace: config.metadata_namespace ?? '', allow_overwrite: true, value }]
    : [];
  return {
    entries: [...older, ...metadata].map((entry) => ({
      space: entry.metadata_namespace,
      overwrites: entry.allow_overwrite,
      value: JSON.stringify(entry.value ?? {}),
      ...(entry.typed_value && {
        typed: { name: entry.metadata_namespace, ...encodeAny(entry.typed_value) },
      }),
    })),
  };
}

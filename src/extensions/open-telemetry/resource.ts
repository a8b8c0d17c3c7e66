// What OpenTelemetry is told of this process: the attributes that detectors find.
import type {
  envoy_config_core_v3_TypedExtensionConfig as TypedConfig,
  envoy_extensions_tracers_opentelemetry_resource_detectors_v3_StaticConfigResourceDetectorConfig as StaticConfig,
} from '../../../build/messages.gen.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FOLDER = 'envoy.extensions.tracers.opentelemetry.resource_detectors.v3.';
const ENVIRONMENT = `${FOLDER}EnvironmentResourceDetectorConfig`;
const STATIC = supportedFields<StaticConfig>(`${FOLDER}StaticConfigResourceDetectorConfig`, [
  'attributes',
]);
const VARIABLE = 'OTEL_RESOURCE_ATTRIBUTES';

/** A later detector's attributes go before those of an earlier one. */
export function compileResource(
  detectors: readonly TypedConfig[] | undefined,
  place: Place,
): Record<string, string> {
  const attributes: Record<string, string> = {};
  (detectors ?? []).forEach((detector, index) => {
    const at = place.index(index).field('typed_config');
    const message = detector.typed_config;
    if (message?.$type === ENVIRONMENT) {
      Object.assign(attributes, attributesOf(process.env[VARIABLE] ?? ''));
    } else if (message?.$type === STATIC.type) {
      refuseOtherFields(at, message, STATIC);
      for (const [key, value] of Object.entries((message as StaticConfig).attributes ?? {})) {
        if (key !== '' && value !== '') attributes[key] = value;
      }
    } else {
      at.error(
        `the resource detector '${detector.name ?? ''}' (${message?.$type ?? ''}) is not supported yet`,
        { expected: `${ENVIRONMENT} or ${STATIC.type}` },
      );
    }
  });
  return attributes;
}

/** "key=value,key=value"; with anything else in it there are none, as in the real server. */
function attributesOf(text: string): Record<string, string> {
  if (text === '') return {};
  const pairs = text.split(',').map((pair) => pair.split('='));
  if (pairs.some((pair) => pair.length !== 2)) return {};
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [key.trim(), value.trim()]));
}

// Which traces of OpenTelemetry are told of.
import type {
  envoy_config_core_v3_TypedExtensionConfig as TypedConfig,
  envoy_extensions_tracers_opentelemetry_samplers_v3_ParentBasedSamplerConfig as ParentBased,
  envoy_extensions_tracers_opentelemetry_samplers_v3_TraceIdRatioBasedSamplerConfig as RatioBased,
} from '../../../build/messages.gen.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { SpanSampler_Kind as Kind, type SpanSampler } from '../../plan/plan.gen.js';
import { DENOMINATORS } from '../../plan/message/numbers.js';

const FOLDER = 'envoy.extensions.tracers.opentelemetry.samplers.v3.';
const RATIO = supportedFields<RatioBased>(`${FOLDER}TraceIdRatioBasedSamplerConfig`, [
  'sampling_percentage',
]);
const PARENT = supportedFields<ParentBased>(`${FOLDER}ParentBasedSamplerConfig`, [
  'wrapped_sampler',
]);

/** Undefined after an error. */
export function compileSampler(config: TypedConfig, place: Place): SpanSampler | undefined {
  const message = config.typed_config;
  const at = place.field('typed_config');
  switch (message?.$type) {
    case `${FOLDER}AlwaysOnSamplerConfig`:
      return { kind: Kind.ALWAYS };
    case RATIO.type: {
      const ratio = message as RatioBased;
      refuseOtherFields(at, ratio, RATIO);
      const { numerator = 0, denominator = 'HUNDRED' } = ratio.sampling_percentage ?? {};
      return { kind: Kind.RATIO, share: numerator, of: DENOMINATORS[denominator] };
    }
    case PARENT.type: {
      const parent = message as ParentBased;
      refuseOtherFields(at, parent, PARENT);
      const wrapped =
        parent.wrapped_sampler &&
        compileSampler(parent.wrapped_sampler, at.field('wrapped_sampler'));
      return { kind: Kind.PARENT, ...(wrapped && { next: wrapped }) };
    }
    default:
      at.error(
        `the sampler '${config.name ?? ''}' (${message?.$type ?? ''}) is not supported yet`,
        { expected: `${FOLDER}AlwaysOnSamplerConfig, ${RATIO.type} or ${PARENT.type}` },
      );
      return undefined;
  }
}

// What a tap records, and where to: a TapConfig of the bootstrap or of POST /tap.
import type {
  envoy_config_common_matcher_v3_HttpGenericBodyMatch as BodyMatch,
  envoy_config_common_matcher_v3_MatchPredicate as MatchPredicate,
  envoy_config_route_v3_HeaderMatcher as HeaderMatcher,
  envoy_config_tap_v3_OutputConfig as OutputConfig,
  envoy_config_tap_v3_OutputSink as OutputSink,
  envoy_config_tap_v3_TapConfig as TapConfig,
} from '../../../build/messages.gen.js';
import { compileHeaderMatcher } from './matchers.js';
import type { Place } from '../message/place.js';
import { TapMatch_Kind as Kind, type Tap, type TapMatch } from '../plan.gen.js';
import type { RuntimeReads } from '../runtime/runtime-reads.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const TAP = supportedFields<TapConfig>('envoy.config.tap.v3.TapConfig', [
  'match_config',
  'match',
  'output_config',
  'tap_enabled',
]);
const OUTPUT = supportedFields<OutputConfig>('envoy.config.tap.v3.OutputConfig', [
  'sinks',
  'max_buffered_rx_bytes',
  'max_buffered_tx_bytes',
  'streaming',
]);
const SINK = supportedFields<OutputSink>('envoy.config.tap.v3.OutputSink', [
  'format',
  'streaming_admin',
  'buffered_admin',
  'file_per_tap',
]);

const DEFAULT_BODY_BYTES = 1024;
const ALL_REQUESTS = { value: 1_000_000, slot: 0 };

export type TraceFormat = NonNullable<OutputSink['format']>;

/** Who gets the traces. */
export type TapSink =
  | { readonly kind: 'file'; readonly pathPrefix: string }
  /** The client of POST /tap, as traces come. */
  | { readonly kind: 'stream' }
  /** The same, but only once there are so many or the time is over. */
  | { readonly kind: 'buffer'; readonly maxTraces: number; readonly timeoutMs: number | undefined };

export interface TapPlan {
  readonly tap: Tap;
  readonly format: TraceFormat;
  readonly sink: TapSink;
}

/** A tap filter of the configuration; its number is its place in the list. */
export type TapDeclaration =
  | { readonly plan: TapPlan | undefined }
  /** It waits for a client that names it so. */
  | { readonly configId: string };

/** Undefined after an error. */
export function compileTap(
  config: TapConfig,
  place: Place,
  runtime: Pick<RuntimeReads, 'liveMillionths'>,
): TapPlan | undefined {
  refuseOtherFields(place, config, TAP);
  const output = config.output_config ?? {};
  const at = place.field('output_config');
  refuseOtherFields(at, output, OUTPUT);
  const match = config.match ?? (config.match_config as MatchPredicate | undefined);
  if (!match) {
    place.error('Neither match nor match_config is set in TapConfig', { expected: 'match' });
    return undefined;
  }
  const [first = {}] = output.sinks ?? [];
  const sink = compileSink(first, at.field('sinks').index(0));
  if (!sink) return undefined;
  const enabled = config.tap_enabled;
  const share = enabled
    ? runtime.liveMillionths(enabled.runtime_key, enabled.default_value)
    : ALL_REQUESTS;
  return {
    tap: {
      match: compileMatch(match, place.field(config.match ? 'match' : 'match_config')),
      max_request_body_bytes: output.max_buffered_rx_bytes ?? DEFAULT_BODY_BYTES,
      max_response_body_bytes: output.max_buffered_tx_bytes ?? DEFAULT_BODY_BYTES,
      streaming: output.streaming,
      share_millionths: share.value,
      share_slot: share.slot,
    },
    format: first.format ?? 'JSON_BODY_AS_BYTES',
    sink,
  };
}

function compileSink(sink: OutputSink, place: Place): TapSink | undefined {
  if (sink.streaming_grpc) {
    place
      .field('streaming_grpc')
      .error('traces cannot be sent to a tap service: the real server has no such output either', {
        expected: 'streaming_admin, buffered_admin or file_per_tap',
      });
    return undefined;
  }
  refuseOtherFields(place, sink, SINK);
  if (sink.file_per_tap) return { kind: 'file', pathPrefix: sink.file_per_tap.path_prefix ?? '' };
  if (sink.streaming_admin) return { kind: 'stream' };
  if (!sink.buffered_admin) return undefined;
  const { max_traces: maxTraces = 0, timeout: timeoutMs } = sink.buffered_admin;
  return { kind: 'buffer', maxTraces, timeoutMs };
}

/** A tree of conditions on a request and its answer. */
export function compileMatch(match: MatchPredicate, place: Place): TapMatch {
  const rulesOf = (name: 'and_match' | 'or_match'): TapMatch[] =>
    (match[name]?.rules ?? []).map((rule, index) =>
      compileMatch(rule, place.field(name).field('rules').index(index)),
    );
  if (match.and_match) return { kind: Kind.AND, rules: rulesOf('and_match') };
  if (match.or_match) return { kind: Kind.OR, rules: rulesOf('or_match') };
  if (match.not_match)
    return { kind: Kind.NOT, rules: [compileMatch(match.not_match, place.field('not_match'))] };
  for (const [name, kind] of HEADERS) {
    const headers = match[name]?.headers;
    if (match[name])
      return { kind, headers: compileHeaders(headers, place.field(name).field('headers')) };
  }
  for (const [name, kind] of BODIES) {
    const body = match[name];
    if (body) return { kind, ...compileBody(body) };
  }
  return { kind: Kind.ANY };
}

const HEADERS = [
  ['http_request_headers_match', Kind.REQUEST_HEADERS],
  ['http_request_trailers_match', Kind.REQUEST_TRAILERS],
  ['http_response_headers_match', Kind.RESPONSE_HEADERS],
  ['http_response_trailers_match', Kind.RESPONSE_TRAILERS],
] as const;
const BODIES = [
  ['http_request_generic_body_match', Kind.REQUEST_BODY],
  ['http_response_generic_body_match', Kind.RESPONSE_BODY],
] as const;

function compileHeaders(
  headers: readonly HeaderMatcher[] | undefined,
  place: Place,
): TapMatch['headers'] {
  return (headers ?? []).flatMap(
    (header, index) => compileHeaderMatcher(header, place.index(index)) ?? [],
  );
}

function compileBody(body: BodyMatch): Pick<TapMatch, 'patterns' | 'body_limit_bytes'> {
  return {
    patterns: (body.patterns ?? []).map(
      ({ string_match: text, binary_match: bytes }) => bytes ?? Buffer.from(text ?? ''),
    ),
    body_limit_bytes: body.bytes_limit,
  };
}

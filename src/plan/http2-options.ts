// Http2ProtocolOptions, of connection managers and of clusters: with their defaults.
import type {
  envoy_config_core_v3_Http2ProtocolOptions as Http2Message,
  envoy_config_core_v3_Http2ProtocolOptions_SettingsParameter as SettingsParameter,
  envoy_config_core_v3_KeepaliveSettings as Keepalive,
} from '../../build/messages.gen.js';
import { wholeMs } from './message/numbers.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { Http2Options, Http2Setting } from './plan.gen.js';

// What METADATA frames may hold only counts where they are allowed, which is refused.
const HTTP2 = supportedFields<Http2Message>('envoy.config.core.v3.Http2ProtocolOptions', [
  'hpack_table_size',
  'max_concurrent_streams',
  'initial_stream_window_size',
  'initial_connection_window_size',
  'allow_connect',
  'max_outbound_frames',
  'max_outbound_control_frames',
  'max_consecutive_inbound_frames_with_empty_payload',
  'max_inbound_priority_frames_per_stream',
  'max_inbound_window_update_frames_per_data_frame_sent',
  'stream_error_on_invalid_http_messaging',
  'override_stream_error_on_invalid_http_message',
  'custom_settings_parameters',
  'connection_keepalive',
  'use_oghttp2_codec',
  'max_metadata_size',
  'enable_huffman_encoding',
  'max_header_field_size_kb',
  'disallow_obs_text',
  'stream_reset_burst',
  'stream_reset_rate',
]);
const KEEPALIVE = supportedFields<Keepalive>('envoy.config.core.v3.KeepaliveSettings', [
  'interval',
  'timeout',
  'interval_jitter',
  'connection_idle_interval',
]);

const DEFAULT_HEADER_TABLE_BYTES = 4096;
const DEFAULT_MAX_CONCURRENT_STREAMS = 1024;
const DEFAULT_STREAM_WINDOW_BYTES = 16 * 2 ** 20;
const DEFAULT_CONNECTION_WINDOW_BYTES = 24 * 2 ** 20;
const DEFAULT_MAX_OUTBOUND_FRAMES = 10_000;
const DEFAULT_MAX_OUTBOUND_CONTROL_FRAMES = 1000;
const DEFAULT_MAX_EMPTY_FRAMES = 1;
const DEFAULT_MAX_PRIORITY_FRAMES = 100;
const DEFAULT_MAX_WINDOW_UPDATES = 10;
const DEFAULT_MAX_HEADER_FIELD_KB = 64;
export const DEFAULT_PING_JITTER_PCT = 15;

/** Parameters of RFC 9113 that have fields of their own. */
const NAMED: Readonly<Record<number, NamedSetting>> = {
  1: 'hpack_table_size',
  3: 'max_concurrent_streams',
  4: 'initial_stream_window_size',
};
type NamedSetting = 'hpack_table_size' | 'max_concurrent_streams' | 'initial_stream_window_size';
const ENABLE_PUSH = 2;
const MAX_FRAME_SIZE = 5;
const ENABLE_CONNECT = 8;
/** What a peer may not be told at all (RFC 9113 §6.5.2). */
const RANGES: Readonly<Record<number, readonly [from: number, to: number]>> = {
  4: [0, 2 ** 31 - 1],
  [MAX_FRAME_SIZE]: [2 ** 14, 2 ** 24 - 1],
};

export function compileHttp2Options(message: Http2Message, place: Place): Http2Options {
  refuseOtherFields(place, message, HTTP2);
  const { settings, named } = compileCustom(message, place);
  const onlyResets =
    message.override_stream_error_on_invalid_http_message ??
    message.stream_error_on_invalid_http_messaging;
  const { stream_reset_burst: burst, stream_reset_rate: rate } = message;
  return {
    custom_settings: settings,
    header_table_bytes: named.hpack_table_size ?? DEFAULT_HEADER_TABLE_BYTES,
    max_concurrent_streams: named.max_concurrent_streams ?? DEFAULT_MAX_CONCURRENT_STREAMS,
    stream_window_bytes: named.initial_stream_window_size ?? DEFAULT_STREAM_WINDOW_BYTES,
    connection_window_bytes:
      message.initial_connection_window_size ?? DEFAULT_CONNECTION_WINDOW_BYTES,
    allow_connect: message.allow_connect,
    max_outbound_frames: message.max_outbound_frames ?? DEFAULT_MAX_OUTBOUND_FRAMES,
    max_outbound_control_frames:
      message.max_outbound_control_frames ?? DEFAULT_MAX_OUTBOUND_CONTROL_FRAMES,
    max_empty_frames:
      message.max_consecutive_inbound_frames_with_empty_payload ?? DEFAULT_MAX_EMPTY_FRAMES,
    max_priority_frames_per_stream:
      message.max_inbound_priority_frames_per_stream ?? DEFAULT_MAX_PRIORITY_FRAMES,
    max_window_updates_per_data_frame:
      message.max_inbound_window_update_frames_per_data_frame_sent ?? DEFAULT_MAX_WINDOW_UPDATES,
    only_resets_invalid: onlyResets,
    ...compileKeepalive(message.connection_keepalive, place.field('connection_keepalive')),
    without_huffman: message.enable_huffman_encoding === false,
    max_header_field_bytes:
      (message.max_header_field_size_kb ?? DEFAULT_MAX_HEADER_FIELD_KB) * 1024,
    disallow_obs_text: message.disallow_obs_text,
    ...((burst !== undefined || rate !== undefined) && {
      stream_reset_burst: burst ?? 0,
      stream_reset_rate: rate ?? 0,
    }),
    counts_as_oghttp2: message.use_oghttp2_codec,
  };
}

function compileKeepalive(keepalive: Keepalive | undefined, place: Place): Partial<Http2Options> {
  if (!keepalive) return {};
  refuseOtherFields(place, keepalive, KEEPALIVE);
  const interval = wholeMs(keepalive.interval, 0);
  const jitterPct = keepalive.interval_jitter?.value ?? DEFAULT_PING_JITTER_PCT;
  return {
    ping_interval_ms: interval,
    ping_jitter_ms: Math.trunc((interval * jitterPct) / 100),
    ping_timeout_ms: wholeMs(keepalive.timeout, 0),
    ping_idle_ms: wholeMs(keepalive.connection_idle_interval, 0),
  };
}

interface CustomSettings {
  /** Those without fields of their own, in their order. */
  readonly settings: Http2Setting[];
  /** With what is given by number. */
  readonly named: Partial<Record<NamedSetting, number>>;
}

function compileCustom(message: Http2Message, place: Place): CustomSettings {
  const at = place.field('custom_settings_parameters');
  const values = new Map<number, number>();
  const settings: Http2Setting[] = [];
  const named: Partial<Record<NamedSetting, number>> = {};
  for (const name of Object.values(NAMED)) {
    const value = message[name];
    if (value !== undefined) named[name] = value;
  }
  (message.custom_settings_parameters ?? []).forEach((parameter, index) => {
    const { identifier: id = 0, value = 0 } = parameter;
    const known = values.get(id);
    values.set(id, value);
    const error = customError(message, parameter, known) ?? rangeError(id, value);
    if (error !== undefined) at.index(index).error(error);
    const name = NAMED[id];
    if (name) named[name] = value;
    else if (known === undefined && id !== ENABLE_PUSH) settings.push({ id, value });
  });
  return { settings, named };
}

/** In the words of the real server. */
function customError(
  message: Http2Message,
  { identifier = 0, value = 0 }: SettingsParameter,
  known: number | undefined,
): string | undefined {
  if (known !== undefined && known !== value) {
    return `inconsistent HTTP/2 custom SETTINGS parameter(s) detected; identifiers = {0x${identifier.toString(16).padStart(2, '0')}}`;
  }
  if (identifier === ENABLE_PUSH && value !== 0) {
    return 'server push is not supported by Envoy and can not be enabled via a SETTINGS parameter.';
  }
  if (identifier === ENABLE_CONNECT) {
    return 'the "allow_connect" SETTINGS parameter must only be configured through the named field';
  }
  const name = NAMED[identifier];
  if (name && message[name] !== undefined) {
    return `the {${name}} HTTP/2 SETTINGS parameter(s) can not be configured through both named and custom parameters`;
  }
  return undefined;
}

function rangeError(id: number, value: number): string | undefined {
  const [from, to] = RANGES[id] ?? [0, value];
  return value < from || value > to
    ? `the HTTP/2 setting 0x${id.toString(16).padStart(2, '0')} can not be ${value}: it is from ${from} to ${to}`
    : undefined;
}

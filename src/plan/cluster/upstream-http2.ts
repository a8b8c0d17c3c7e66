// What a cluster says of HTTP/2. The gRPC clients of the control plane speak it; the data plane does
// not yet.
import type {
  envoy_config_core_v3_Http2ProtocolOptions as Http2Options,
  envoy_config_core_v3_Http2ProtocolOptions_SettingsParameter as SettingsParameter,
  envoy_config_core_v3_KeepaliveSettings as Keepalive,
} from '../../../build/messages.gen.js';
import type { Http2Plan } from '../service-plan.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

/**
 * What bounds a peer that misbehaves, or is about proxied messages: gRPC clients have bounds of
 * their own.
 */
const WITHOUT_EFFECT = [
  'allow_metadata',
  'max_outbound_frames',
  'max_outbound_control_frames',
  'max_consecutive_inbound_frames_with_empty_payload',
  'max_inbound_priority_frames_per_stream',
  'max_inbound_window_update_frames_per_data_frame_sent',
  'max_metadata_size',
  'stream_error_on_invalid_http_messaging',
  'override_stream_error_on_invalid_http_message',
  'use_oghttp2_codec',
  'stream_reset_burst',
  'stream_reset_rate',
] as const;
// Extended CONNECT is what clients ask for: towards upstreams it has no effect in the real server either.
const HTTP2 = supportedFields<Http2Options>('envoy.config.core.v3.Http2ProtocolOptions', [
  'hpack_table_size',
  'max_concurrent_streams',
  'initial_stream_window_size',
  'initial_connection_window_size',
  'allow_connect',
  'custom_settings_parameters',
  'connection_keepalive',
  ...WITHOUT_EFFECT,
]);
const KEEPALIVE = supportedFields<Keepalive>('envoy.config.core.v3.KeepaliveSettings', [
  'interval',
  'timeout',
  'interval_jitter',
]);

/** Parameters of RFC 9113 that have fields of their own. */
const NAMED: Readonly<Record<number, NamedSetting>> = {
  1: 'hpack_table_size',
  3: 'max_concurrent_streams',
  4: 'initial_stream_window_size',
};
type NamedSetting = 'hpack_table_size' | 'max_concurrent_streams' | 'initial_stream_window_size';
const ENABLE_PUSH = 2;
const ENABLE_CONNECT = 8;
const MAX_WINDOW_BYTES = 2 ** 31 - 1;
const DEFAULT_JITTER_PCT = 15;

export function compileHttp2(options: Http2Options, place: Place): Http2Plan {
  refuseOtherFields(place, options, HTTP2);
  for (const name of WITHOUT_EFFECT) {
    if (options[name] !== undefined) {
      place.field(name).warn('has no effect: gRPC clients have bounds of their own');
    }
  }
  const settings = { ...options, ...compileCustom(options, place) };
  const keepalive = options.connection_keepalive ?? {};
  refuseOtherFields(place.field('connection_keepalive'), keepalive, KEEPALIVE);
  return {
    settings: {
      ...(settings.hpack_table_size !== undefined && {
        headerTableSize: settings.hpack_table_size,
      }),
      ...(settings.max_concurrent_streams !== undefined && {
        maxConcurrentStreams: settings.max_concurrent_streams,
      }),
      ...(settings.initial_stream_window_size !== undefined && {
        initialWindowSize: settings.initial_stream_window_size,
      }),
    },
    ...(options.initial_connection_window_size !== undefined && {
      connectionWindowBytes: options.initial_connection_window_size,
    }),
    ...(keepalive.interval !== undefined && {
      ping: {
        intervalMs: wholeMs(keepalive.interval, 0),
        timeoutMs: wholeMs(keepalive.timeout, 0),
        jitterPct: keepalive.interval_jitter?.value ?? DEFAULT_JITTER_PCT,
      },
    }),
  };
}

/** The settings that are given by their numbers, by the names of the fields for the same. */
function compileCustom(options: Http2Options, place: Place): Partial<Record<NamedSetting, number>> {
  const at = place.field('custom_settings_parameters');
  const values = new Map<number, number>();
  const custom: Partial<Record<NamedSetting, number>> = {};
  (options.custom_settings_parameters ?? []).forEach((parameter, index) => {
    const { identifier = 0, value = 0 } = parameter;
    const where = at.index(index);
    const known = values.get(identifier);
    values.set(identifier, value);
    const error = customError(options, parameter, known);
    if (error !== undefined) {
      where.error(error);
      return;
    }
    const name = NAMED[identifier];
    if (name === 'initial_stream_window_size' && value > MAX_WINDOW_BYTES) {
      where.field('value').error(`a window of ${value} bytes is not possible`, {
        expected: `at most ${MAX_WINDOW_BYTES}`,
      });
    } else if (name) custom[name] = value;
    else if (identifier !== ENABLE_PUSH) {
      where.error(`the HTTP/2 setting 0x${identifier.toString(16)} is not supported yet`, {
        expected: `one of ${Object.keys(NAMED).join(', ')}`,
      });
    }
  });
  return custom;
}

/** In the words of the real server. */
function customError(
  options: Http2Options,
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
  if (name && options[name] !== undefined) {
    return `the {${name}} HTTP/2 SETTINGS parameter(s) can not be configured through both named and custom parameters`;
  }
  return undefined;
}

// HTTP/2 of connections that the control plane makes itself: what a cluster says explicitly of it.
import type { envoy_config_core_v3_Http2ProtocolOptions as Http2Message } from '../../../build/messages.gen.js';
import { DEFAULT_PING_JITTER_PCT } from '../http2-options.js';
import { wholeMs } from '../message/numbers.js';
import type { Http2Options } from '../plan.gen.js';
import type { Http2Plan } from '../service-plan.js';

/** The numbers of settings in RFC 9113. */
const HEADER_TABLE_SIZE = 1;
const MAX_STREAMS = 3;
const WINDOW_SIZE = 4;
const MAX_FRAME_SIZE = 5;
const MAX_HEADER_LIST_SIZE = 6;

/** `options`: what the message was compiled to. */
export function grpcHttp2(message: Http2Message, options: Http2Options): Http2Plan {
  const custom = new Map(
    (message.custom_settings_parameters ?? []).map(({ identifier = 0, value = 0 }) => [
      identifier,
      value,
    ]),
  );
  const isSet = (name: keyof Http2Message, id: number): boolean =>
    message[name] !== undefined || custom.has(id);
  const { initial_connection_window_size: connectionWindowBytes, connection_keepalive: keepalive } =
    message;
  return {
    settings: {
      ...(isSet('hpack_table_size', HEADER_TABLE_SIZE) && {
        headerTableSize: options.header_table_bytes ?? 0,
      }),
      ...(isSet('max_concurrent_streams', MAX_STREAMS) && {
        maxConcurrentStreams: options.max_concurrent_streams ?? 0,
      }),
      ...(isSet('initial_stream_window_size', WINDOW_SIZE) && {
        initialWindowSize: options.stream_window_bytes ?? 0,
      }),
      ...(custom.has(MAX_FRAME_SIZE) && { maxFrameSize: custom.get(MAX_FRAME_SIZE) ?? 0 }),
      ...(custom.has(MAX_HEADER_LIST_SIZE) && {
        maxHeaderListSize: custom.get(MAX_HEADER_LIST_SIZE) ?? 0,
      }),
    },
    ...(connectionWindowBytes !== undefined && { connectionWindowBytes }),
    ...(keepalive?.interval !== undefined && {
      ping: {
        intervalMs: wholeMs(keepalive.interval, 0),
        timeoutMs: wholeMs(keepalive.timeout, 0),
        jitterPct: keepalive.interval_jitter?.value ?? DEFAULT_PING_JITTER_PCT,
      },
    }),
  };
}

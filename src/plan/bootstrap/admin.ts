// The admin server's part of the bootstrap.
import type { envoy_config_bootstrap_v3_Admin as AdminMessage } from '../../../build/messages.gen.js';
import { DEFAULT_FORMAT, compileAccessLogs } from '../access-log/access-log.js';
import { compileAddress } from '../address/address.js';
import type { CompileContext } from '../extension.js';
import { compileFormat } from '../format/format.js';
import { formatIp } from '../address/ip.js';
import { checkLogPath } from '../access-log/log-path.js';
import { compileStringMatcher } from '../match/matchers.js';
import type { SocketOption } from '../../native.js';
import { compileSocketOptions, ipv4Compatibility } from '../address/socket-options.js';
import type { Place } from '../message/place.js';
import type { AccessLog, StringMatch } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const ADMIN = supportedFields<AdminMessage & WithAllowPaths>('envoy.config.bootstrap.v3.Admin', [
  'access_log',
  'access_log_path',
  'profile_path',
  'address',
  'ignore_global_conn_limit',
  'socket_options',
  'allow_paths',
]);

const DEFAULT_PROFILE_PATH = '/var/log/envoy/envoy.prof';

/** A field of later releases. */
interface WithAllowPaths {
  readonly allow_paths?: readonly Parameters<typeof compileStringMatcher>[0][];
}

export interface AdminPlan {
  readonly address:
    | { readonly host: string; readonly port: number }
    | { readonly pipe: string; /** 0: as the process's mask says. */ readonly mode: number };
  readonly accessLogs: readonly AccessLog[];
  /** The limit of all connections is not for its own. */
  readonly ignoresConnectionLimit: boolean;
  readonly profilePath: string;
  /** Of its listen socket, in their order. */
  readonly socketOptions: readonly SocketOption[];
  /** Paths that may be asked for; empty: all. */
  readonly allowPaths: readonly StringMatch[];
}

/**
 * Undefined without an address: then there is no admin server. `start`: where goes what only a start looks
 * at.
 */
export function compileAdmin(
  message: AdminMessage,
  place: Place,
  context: CompileContext,
  start: Place = place,
): AdminPlan | undefined {
  refuseOtherFields(place, message, ADMIN);
  const accessLogs = [
    ...compileOldLog(message.access_log_path, place.field('access_log_path')),
    ...compileAccessLogs(message.access_log, 'http_log', place.field('access_log'), context),
  ];
  const allow = (message as WithAllowPaths).allow_paths ?? [];
  const allowPaths = allow.flatMap(
    (matcher, index) =>
      compileStringMatcher(matcher, start.field('allow_paths').index(index)) ?? [],
  );
  if (!message.address) return undefined;
  const address = compileAddress(message.address, place.field('address'));
  if (address === undefined) return undefined;
  return {
    address: address.ip
      ? { host: formatIp(address.ip), port: address.port ?? 0 }
      : { pipe: address.pipe ?? '', mode: message.address.pipe?.mode ?? 0 },
    accessLogs,
    ignoresConnectionLimit: message.ignore_global_conn_limit ?? false,
    socketOptions: [
      ...ipv4Compatibility(message.address, address.ip),
      ...compileSocketOptions(message.socket_options ?? [], address.ip),
    ],
    profilePath: message.profile_path || DEFAULT_PROFILE_PATH,
    allowPaths,
  };
}

function compileOldLog(path: string | undefined, place: Place): AccessLog[] {
  if (!path) return [];
  checkLogPath(path, place);
  const compiled = compileFormat(DEFAULT_FORMAT, 'http_log');
  return 'error' in compiled ? [] : [{ path, format: compiled.format }];
}

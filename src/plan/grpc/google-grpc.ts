// A gRPC service that the gRPC library reaches by itself (GrpcService.google_grpc).
import type {
  envoy_config_core_v3_GrpcService_GoogleGrpc as GoogleGrpc,
  envoy_config_core_v3_GrpcService_GoogleGrpc_CallCredentials as CallCredentials,
  envoy_config_core_v3_GrpcService_GoogleGrpc_ChannelArgs as ChannelArgs,
  envoy_config_core_v3_GrpcService_GoogleGrpc_ChannelCredentials as ChannelCredentials,
  envoy_config_core_v3_GrpcService_GoogleGrpc_SslCredentials as SslCredentials,
  envoy_config_grpc_credential_v3_FileBasedMetadataConfig as FileBasedMetadata,
} from '../../../build/messages.gen.js';
import type {
  FileToken,
  GoogleCredentials,
  GoogleGrpcPlan,
  GrpcMetadata,
} from '../service-plan.js';
import { readDataSource } from '../message/data-source.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { LONGEST_TIMER_MS } from '../../base/timers.js';

const TYPE = 'envoy.config.core.v3.GrpcService.GoogleGrpc';
const GOOGLE = supportedFields<GoogleGrpc>(
  TYPE,
  [
    'target_uri',
    'channel_credentials',
    'call_credentials',
    'stat_prefix',
    'credentials_factory_name',
    'per_stream_buffer_limit_bytes',
    'channel_args',
  ],
  { config: {} },
);
const CHANNEL = supportedFields<ChannelCredentials>(`${TYPE}.ChannelCredentials`, [
  'ssl_credentials',
  'local_credentials',
  'google_default',
]);
const SSL = supportedFields<SslCredentials>(`${TYPE}.SslCredentials`, [
  'root_certs',
  'private_key',
  'cert_chain',
]);
const CALL = supportedFields<CallCredentials>(`${TYPE}.CallCredentials`, [
  'access_token',
  'from_plugin',
]);
const FILE_BASED = supportedFields<FileBasedMetadata>(
  'envoy.config.grpc_credential.v3.FileBasedMetadataConfig',
  ['secret_data', 'header_key', 'header_prefix'],
);
const ARGS = supportedFields<ChannelArgs>(`${TYPE}.ChannelArgs`, ['args']);

const DEFAULT_FACTORY = 'envoy.grpc_credentials.default';
const FILE_FACTORY = 'envoy.grpc_credentials.file_based_metadata';

/** Undefined after an error. */
export function compileGoogleGrpc(
  message: GoogleGrpc,
  metadata: GrpcMetadata,
  place: Place,
): GoogleGrpcPlan | undefined {
  refuseOtherFields(place, message, GOOGLE);
  const factory = message.credentials_factory_name ?? '';
  if (factory !== '' && factory !== DEFAULT_FACTORY && factory !== FILE_FACTORY) {
    place
      .field('credentials_factory_name')
      .error(`Unknown google grpc credentials factory: ${factory}`, {
        expected: `${DEFAULT_FACTORY} or ${FILE_FACTORY}`,
      });
  }
  if (message.per_stream_buffer_limit_bytes !== undefined) {
    place
      .field('per_stream_buffer_limit_bytes')
      .warn('has no effect: what waits to be sent has a limit of its own');
  }
  const isOfFile = factory === FILE_FACTORY;
  const credentials = compileChannel(
    // As the real server: tokens of files go over TLS unless it is said otherwise.
    message.channel_credentials ?? (isOfFile ? { ssl_credentials: {} } : undefined),
    place.field('channel_credentials'),
  );
  const calls = place.field('call_credentials');
  const tokens = (message.call_credentials ?? []).map((call, index) =>
    compileCall(call, isOfFile, calls.index(index)),
  );
  if (!credentials) return undefined;
  const accessTokens = tokens.flatMap(({ access }) => access ?? []);
  const fileTokens = tokens.flatMap(({ file }) => file ?? []);
  if (accessTokens.length + fileTokens.length > 0 && credentials.kind !== 'ssl') {
    calls.error('an access token is only sent over TLS', { expected: 'ssl_credentials' });
  }
  return {
    kind: 'google',
    target: message.target_uri ?? '',
    statPrefix: message.stat_prefix ?? '',
    credentials,
    accessTokens,
    fileTokens,
    channelOptions: compileArgs(message.channel_args ?? {}, place.field('channel_args')),
    metadata,
  };
}

/** A token that calls carry. */
function compileCall(
  message: CallCredentials,
  isOfFile: boolean,
  place: Place,
): { readonly access?: string; readonly file?: FileToken } {
  refuseOtherFields(place, message, CALL);
  const { access_token: access, from_plugin: plugin } = message;
  if (!plugin) return access === undefined ? {} : { access };
  const at = place.field('from_plugin');
  const config = plugin.typed_config;
  if (!isOfFile || plugin.name !== FILE_FACTORY || config?.$type !== FILE_BASED.type) {
    at.error(`the credentials '${plugin.name ?? ''}' (${config?.$type ?? ''}) are not supported`, {
      expected: `${FILE_FACTORY} (${FILE_BASED.type}), which credentials_factory_name names, too`,
    });
    return {};
  }
  const own = config as FileBasedMetadata;
  const where = at.field('typed_config').within(FILE_BASED.type);
  refuseOtherFields(where, own, FILE_BASED);
  const { secret_data: secret, header_key: header, header_prefix: prefix = '' } = own;
  const common = { header: header || 'authorization', prefix };
  // It may be written later, and written again.
  if (secret?.filename) return { file: { ...common, path: secret.filename, text: '' } };
  const text = readDataSource(secret, where.field('secret_data'));
  return text ? { file: { ...common, text: Buffer.from(text).toString('latin1') } } : {};
}

function compileChannel(
  message: ChannelCredentials | undefined,
  place: Place,
): GoogleCredentials | undefined {
  if (!message) return { kind: 'insecure' };
  refuseOtherFields(place, message, CHANNEL);
  if (message.google_default) {
    place.field('google_default').error("Google's default credentials are not supported", {
      expected: 'ssl_credentials, with call_credentials where the service asks for a token',
    });
    return undefined;
  }
  // Such a channel is for servers on this machine: it is not encrypted.
  if (message.local_credentials) return { kind: 'insecure' };
  const ssl = message.ssl_credentials ?? {};
  const at = place.field('ssl_credentials');
  refuseOtherFields(at, ssl, SSL);
  const roots = readDataSource(ssl.root_certs, at.field('root_certs'));
  const key = readDataSource(ssl.private_key, at.field('private_key'));
  const chain = readDataSource(ssl.cert_chain, at.field('cert_chain'));
  if (!roots || !key || !chain) return undefined;
  if (key.length > 0 !== chain.length > 0) {
    at.error('private_key and cert_chain only make sense together');
    return undefined;
  }
  return {
    kind: 'ssl',
    ...(roots.length > 0 && { roots: Buffer.from(roots) }),
    ...(key.length > 0 && { key: Buffer.from(key), chain: Buffer.from(chain) }),
  };
}

/** The library ignores those that it does not know, like the real server's. */
function compileArgs(message: ChannelArgs, place: Place): Record<string, string | number> {
  refuseOtherFields(place, message, ARGS);
  return Object.fromEntries(
    Object.entries(message.args ?? {}).map(([name, value]) => [
      name,
      value.string_value ?? argument(name, value.int_value ?? 0),
    ]),
  );
}

/** Times are what the library starts timers with. */
const argument = (name: string, value: number): number =>
  name.endsWith('_ms') ? Math.min(value, LONGEST_TIMER_MS) : value;

// envoy.transport_sockets.tls of a filter chain.
import type {
  envoy_config_core_v3_DataSource as DataSource,
  envoy_extensions_transport_sockets_tls_v3_DownstreamTlsContext as DownstreamTls,
  envoy_extensions_transport_sockets_tls_v3_TlsSessionTicketKeys as TicketKeys,
} from '../../../build/messages.gen.js';
import { defineExtension, type CompileContext } from '../../plan/extension.js';
import { readDataSource } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SecretFinder } from '../../plan/secret-finder.js';
import { TlsServer_OcspPolicy } from '../../plan/plan.gen.js';
import { compileCommon, isTaken } from '../../plan/tls/common.js';
import { makeSocket } from '../../plan/tls/make-socket.js';
import type { TlsSocketPlan } from '../../plan/tls-socket.js';

const PACKAGE = 'envoy.extensions.transport_sockets.tls.v3';
const DOWNSTREAM = supportedFields<DownstreamTls>(`${PACKAGE}.DownstreamTlsContext`, [
  'common_tls_context',
  'require_client_certificate',
  'require_sni',
  'session_ticket_keys',
  'session_ticket_keys_sds_secret_config',
  'session_timeout',
  'disable_stateless_session_resumption',
  'disable_stateful_session_resumption',
  'full_scan_certs_on_sni_mismatch',
  'prefer_client_ciphers',
  'ocsp_staple_policy',
]);
const KEYS = supportedFields<TicketKeys>(`${PACKAGE}.TlsSessionTicketKeys`, ['keys']);
const OCSP_POLICIES = {
  LENIENT_STAPLING: TlsServer_OcspPolicy.LENIENT,
  STRICT_STAPLING: TlsServer_OcspPolicy.STRICT,
  MUST_STAPLE: TlsServer_OcspPolicy.MUST_STAPLE,
} as const;
/** A name, and keys for HMAC and AES. */
const KEY_BYTES = 80;

/** Undefined after an error. */
export const downstreamTls = defineExtension<DownstreamTls, TlsSocketPlan | undefined>({
  name: 'envoy.transport_sockets.tls',
  type: DOWNSTREAM.type,
  compile: (config, place, context) =>
    makeSocket(
      (secrets, at) => buildSocket(config, { place: at, context, secrets }),
      place,
      context,
    ),
});

interface Surroundings {
  readonly place: Place;
  readonly context: CompileContext;
  readonly secrets: SecretFinder;
}

function buildSocket(
  config: DownstreamTls,
  { place, context, secrets }: Surroundings,
): TlsSocketPlan | undefined {
  refuseOtherFields(place, config, DOWNSTREAM);
  const at = place.field('common_tls_context');
  const common = compileCommon(config.common_tls_context ?? {}, at, secrets, true);
  const keys = compileTicketKeys(config, place, secrets);
  warnOfNoEffect(config, place);
  if (!common || !keys) return undefined;
  const plan = {
    ...common.context,
    server: {
      requires_certificate: config.require_client_certificate,
      ticket_keys: keys,
      disables_tickets: config.disable_stateless_session_resumption,
      disables_cache: config.disable_stateful_session_resumption,
      session_timeout_s: Math.floor((config.session_timeout ?? 0) / 1000),
      prefers_client_ciphers: config.prefer_client_ciphers,
      scans_all_certificates: config.full_scan_certs_on_sni_mismatch,
      ocsp_policy: OCSP_POLICIES[config.ocsp_staple_policy ?? 'LENIENT_STAPLING'],
    },
  };
  return isTaken(plan, at, context, secrets) ? { ...common, context: plan } : undefined;
}

/** What the real server takes and does not do, either. */
function warnOfNoEffect(config: DownstreamTls, place: Place): void {
  if (config.require_sni) {
    place
      .field('require_sni')
      .warn('has no effect: clients without a server name are taken, as by the real server', {
        expected: 'filter_chain_match.server_names and listener filter tls_inspector',
      });
  }
  const { validation_context: own, validation_context_sds_secret_config: secret } =
    config.common_tls_context ?? {};
  const combined = config.common_tls_context?.combined_validation_context;
  if (config.require_client_certificate === undefined && (own ?? secret ?? combined)) {
    place.warnOfDeprecated(
      'clients need not show a certificate, though there is something to verify it with: this default is ' +
        'deprecated',
      { expected: 'require_client_certificate: true or false' },
    );
  }
  const isVerified =
    own?.trusted_ca ?? own?.system_root_certs ?? own?.custom_validator_config ?? secret ?? combined;
  const hashes = [own?.verify_certificate_hash, own?.verify_certificate_spki];
  const isPinned = hashes.some((list) => list !== undefined && list.length > 0);
  if (config.require_client_certificate && isVerified === undefined && !isPinned) {
    place
      .field('require_client_certificate')
      .warn(
        'has no effect without authorities: no certificate needs to be shown, as in the real server',
        {
          expected: 'common_tls_context.validation_context.trusted_ca',
        },
      );
  }
}

/** Undefined after an error. */
function compileTicketKeys(
  config: DownstreamTls,
  place: Place,
  secrets: SecretFinder,
): Uint8Array[] | undefined {
  const secret = config.session_ticket_keys_sds_secret_config;
  const found = secret
    ? secrets.find(
        'session_ticket_keys',
        secret,
        place.field('session_ticket_keys_sds_secret_config'),
      )
    : { message: config.session_ticket_keys ?? {}, place: place.field('session_ticket_keys') };
  if (!found) return undefined;
  if (found === 'pending') return [];
  refuseOtherFields(found.place, found.message, KEYS);
  const sources: readonly DataSource[] = found.message.keys ?? [];
  const keys = sources.map((source, index) => {
    const at = found.place.field('keys').index(index);
    const bytes = readDataSource(source, at);
    if (!bytes || bytes.length === KEY_BYTES) return bytes;
    at.error(
      `Incorrect TLS session ticket key length. Length ${bytes.length}, expected length 80.`,
    );
    return undefined;
  });
  const read = keys.filter((key) => key !== undefined);
  return read.length === keys.length ? read : undefined;
}

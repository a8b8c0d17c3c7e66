// envoy.transport_sockets.tls of a cluster: for the data plane, and for the connections that the
// control plane makes itself.
import type { envoy_extensions_transport_sockets_tls_v3_UpstreamTlsContext as UpstreamTls } from '../../../build/messages.gen.js';
import { defineExtension, type CompileContext } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { compileCommon, isTaken } from '../../plan/tls/common.js';
import type { SecretFinder } from '../../plan/secret-finder.js';
import { makeSocket } from '../../plan/tls/make-socket.js';
import { controlTls } from '../../plan/tls/control-tls.js';
import type { LiveTls } from '../../plan/service-plan.js';
import type { TlsContext } from '../../plan/plan.gen.js';
import type { UpstreamTlsSocketPlan } from '../../plan/tls-socket.js';

// What a server's RSA key may be used for is always looked at.
const UPSTREAM = supportedFields<UpstreamTls>(
  'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
  [
    'common_tls_context',
    'sni',
    'allow_renegotiation',
    'max_session_keys',
    'enforce_rsa_key_usage',
    'auto_host_sni',
    'auto_sni_san_validation',
  ],
);
const MAX_SNI = 255;
const DEFAULT_SESSIONS = 1;

/** Undefined after an error. */
export const upstreamTls = defineExtension<UpstreamTls, UpstreamTlsSocketPlan | undefined>({
  name: 'envoy.transport_sockets.tls',
  type: UPSTREAM.type,
  compile: (config, place, context) => {
    const live: LiveTls = {};
    return makeSocket(
      (secrets, at) => buildSocket(config, at, context, secrets, live),
      place,
      context,
    );
  },
});

function buildSocket(
  config: UpstreamTls,
  place: Place,
  context: CompileContext,
  secrets: SecretFinder,
  live: LiveTls,
): UpstreamTlsSocketPlan | undefined {
  refuseOtherFields(place, config, UPSTREAM);
  const at = place.field('common_tls_context');
  const common = compileCommon(config.common_tls_context ?? {}, at, secrets, false);
  const { sni = '' } = config;
  if (sni.length > MAX_SNI) place.field('sni').error('SNI names containing more than 255 bytes');
  if (sni.includes('\0'))
    place.field('sni').error('SNI names containing NULL-byte are not allowed');
  if (!common) return undefined;
  if (config.auto_sni_san_validation && !secrets.isPending) {
    checkNameValidation(common.context.validation, place.field('auto_sni_san_validation'));
  }
  const { tls_certificates: own = [] } = config.common_tls_context ?? {};
  if (own.length > 1 || (common.context.certificates?.length ?? 0) > 1) {
    at.error('Multiple TLS certificates are not supported for client contexts', {
      expected: 'one',
    });
    return undefined;
  }
  const plan = {
    ...common.context,
    sni,
    sni_of_host: config.auto_host_sni,
    demands_sni_san: config.auto_sni_san_validation,
    max_sessions: config.max_session_keys ?? DEFAULT_SESSIONS,
    allows_renegotiation: config.allow_renegotiation,
  };
  if (!isTaken(plan, at, context, secrets)) return undefined;
  const control = controlTls(plan, common.files);
  if (secrets.requests.length === 0) return { ...common, context: plan, control };
  return {
    ...{ ...common, context: plan },
    control: { ...control, live },
    use: () => {
      live.current = control;
    },
  };
}

/** Whose name is the server's has to be known of somebody. */
function checkNameValidation(validation: TlsContext['validation'], place: Place): void {
  if (!validation) {
    place.error("'auto_sni_san_validation' was configured without a validation context", {
      expected: 'common_tls_context.validation_context',
    });
  } else if (!validation.trusted_ca?.length && !validation.spiffe) {
    place.error("'auto_sni_san_validation' was configured without configuring a trusted CA", {
      expected: 'common_tls_context.validation_context.trusted_ca',
    });
  }
}

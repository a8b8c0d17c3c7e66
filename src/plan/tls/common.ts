// What both sides of TLS have in common.
import type {
  envoy_extensions_transport_sockets_tls_v3_CommonTlsContext as Common,
  envoy_extensions_transport_sockets_tls_v3_TlsKeyLog as KeyLog,
  envoy_extensions_transport_sockets_tls_v3_TlsParameters as Parameters,
} from '../../../build/messages.gen.js';
import { checkLogPath } from '../access-log/log-path.js';
import { compileCidrRanges } from '../address/address.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { TlsContext, TlsKeyLog } from '../plan.gen.js';
import type { SecretFinder } from '../secret-finder.js';
import { compileCertificates, type CertificatePlan } from './certificates.js';
import { compileParameters, type ParameterPlan } from './parameters.js';
import type { TlsSocketPlan } from '../tls-socket.js';
import { compileValidation, findValidation } from './validation.js';

const COMMON = supportedFields<Common>(
  'envoy.extensions.transport_sockets.tls.v3.CommonTlsContext',
  [
    'tls_params',
    'tls_certificates',
    'tls_certificate_sds_secret_configs',
    'validation_context',
    'validation_context_sds_secret_config',
    'combined_validation_context',
    'alpn_protocols',
    'key_log',
  ],
);

/** Undefined after an error. */
export function compileCommon(
  common: Common,
  place: Place,
  secrets: SecretFinder,
  isServer: boolean,
): TlsSocketPlan | undefined {
  refuseOtherFields(place, common, COMMON);
  const certificates = compileCertificates(common, place, secrets, isServer);
  const asked = findValidation(common, place, secrets);
  const validation = asked && compileValidation(asked);
  const alpn = compileProtocols(common.alpn_protocols ?? [], place.field('alpn_protocols'));
  const own = common.tls_params ?? {};
  const parameters = certificates?.[0]
    ? parametersOfAll(own, place.field('tls_params'), certificates, isServer)
    : compileParameters(own, place.field('tls_params'), isServer);
  if (!certificates || !parameters || (asked && !validation)) return undefined;
  const plan: TlsContext = {
    ...parameters,
    alpn,
    certificates: certificates.map(({ plan: one }) => one),
    ...(validation && { validation: validation.plan }),
    ...(common.key_log && { key_log: compileKeyLog(common.key_log, place.field('key_log')) }),
  };
  const authorities = validation?.authorities ?? [];
  const chains = certificates.map(({ file }) => file).filter(({ pem }) => pem.length > 0);
  return { context: plan, files: { authorities, chains } };
}

/**
 * Those of the context, but for what certificates say for their own connections. OpenSSL has chosen
 * version and cipher before the certificate is known: several must want the same. Undefined after an
 * error.
 */
function parametersOfAll(
  own: Parameters,
  place: Place,
  certificates: readonly CertificatePlan[],
  isServer: boolean,
): ParameterPlan | undefined {
  const plans = certificates.map(({ parameters, place: at }) => {
    const isOwn = Object.values(parameters).every((value) => isUnset(value));
    const said = Object.entries(parameters).filter(([, value]) => !isUnset(value));
    const all = { ...own, ...Object.fromEntries(said) };
    return { at, plan: compileParameters(all, isOwn ? place : at.field('tls_params'), isServer) };
  });
  const other = plans.find(({ plan }) => JSON.stringify(plan) !== JSON.stringify(plans[0]?.plan));
  if (!other) return plans[0]?.plan;
  other.at
    .field('tls_params')
    .error('certificates of one context with different tls_params are not supported', {
      expected: 'the same tls_params for all of its certificates',
    });
  return undefined;
}

/** In a message: left out. */
const isUnset = (value: unknown): boolean =>
  value === undefined || value === 'TLS_AUTO' || (Array.isArray(value) && value.length === 0);

function compileKeyLog(message: KeyLog, place: Place): TlsKeyLog {
  const { path = '' } = message;
  checkLogPath(path, place.field('path'));
  return {
    path,
    local: compileCidrRanges(message.local_address_range, place.field('local_address_range')),
    remote: compileCidrRanges(message.remote_address_range, place.field('remote_address_range')),
  };
}

/** As the real server reads them: as one list with commas, in which nothing may stand between two. */
function compileProtocols(protocols: readonly string[], place: Place): string[] {
  const text = protocols.join(',');
  const names = text.split(',').filter((name) => name !== '');
  if (names.some((name) => name.length > 255)) {
    place.error('Invalid ALPN protocol string', { expected: 'names of up to 255 characters' });
  }
  return names;
}

/** What OpenSSL says of it; true: it takes it, or it is not whole yet. */
export function isTaken(
  plan: TlsContext,
  place: Place,
  context: CompileContext,
  secrets: SecretFinder,
): boolean {
  const wrong = secrets.isPending ? undefined : context.checkTls?.(plan);
  if (wrong !== undefined) place.error(`TLS does not take this: ${wrong}`);
  return wrong === undefined;
}

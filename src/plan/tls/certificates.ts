// Our own certificates with their keys: in the configuration, in files, or as secrets.
import type {
  envoy_config_core_v3_DataSource as DataSource,
  envoy_extensions_transport_sockets_tls_v3_CommonTlsContext as Common,
  envoy_extensions_transport_sockets_tls_v3_TlsCertificate as Certificate,
  envoy_extensions_transport_sockets_tls_v3_TlsParameters as Parameters,
} from '../../../build/messages.gen.js';
import { crypto, tls } from '../../base/late-modules.js';
import { readDataSource } from '../message/data-source.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { TlsCertificate } from '../plan.gen.js';
import type { PemFile } from '../service-plan.js';
import type { SecretFinder } from '../secret-finder.js';
import { ocspTimes } from './ocsp-times.js';
import { unnamed } from './unnamed.js';

// Files of a folder that is watched are followed where a secret names them.
const CERTIFICATE = supportedFields<Certificate>(
  'envoy.extensions.transport_sockets.tls.v3.TlsCertificate',
  [
    'certificate_chain',
    'private_key',
    'password',
    'pkcs12',
    'watched_directory',
    'ocsp_staple',
    'tls_params',
    'signed_certificate_timestamp',
  ],
);

/** What the real server calls those that have no name and are of PKCS#12. */
const UNNAMED_PKCS12 = 'unnamed_cert_';

export interface CertificatePlan {
  readonly plan: TlsCertificate;
  readonly file: PemFile;
  /** What connections with it have instead of what the context says. */
  readonly parameters: Parameters;
  readonly place: Place;
}

/** Undefined after an error. */
export function compileCertificates(
  common: Common,
  place: Place,
  secrets: SecretFinder,
  isServer: boolean,
): readonly CertificatePlan[] | undefined {
  const own = (common.tls_certificates ?? []).map((message, index) =>
    // A client may say that it has one, and say no more of it.
    !isServer && Object.keys(message).length === 0
      ? ('pending' as const)
      : compileCertificate(message, place.field('tls_certificates').index(index), undefined),
  );
  const configs = common.tls_certificate_sds_secret_configs ?? [];
  const found = secrets.findSome(
    'tls_certificate',
    configs,
    place.field('tls_certificate_sds_secret_configs'),
  );
  const named = found.map((one, index) => {
    if (one === 'pending') return one;
    return one && compileCertificate(one.message, one.place, configs[index]?.name ?? '');
  });
  if (isServer && own.length > 0 && configs.length > 0) {
    place.error('SDS and non-SDS TLS certificates may not be mixed in server contexts', {
      expected: 'tls_certificates, or tls_certificate_sds_secret_configs',
    });
  }
  const all = own.length > 0 ? own : named;
  if (isServer && own.length === 0 && configs.length === 0) {
    place.error('No TLS certificates found for server context', {
      expected: 'tls_certificates, or tls_certificate_sds_secret_configs',
    });
    return undefined;
  }
  if (all.includes(undefined)) return undefined;
  return all.filter((plan) => plan !== undefined && plan !== 'pending');
}

function compileCertificate(
  message: Certificate,
  place: Place,
  name: string | undefined,
): CertificatePlan | undefined {
  refuseOtherFields(place, message, CERTIFICATE);
  if (message.signed_certificate_timestamp) {
    place
      .field('signed_certificate_timestamp')
      .warn('has no effect, as in the real server: nobody is told of it');
  }
  const pkcs12 = readDataSource(message.pkcs12, place.field('pkcs12'));
  const chain = readDataSource(message.certificate_chain, place.field('certificate_chain'));
  const key = readDataSource(message.private_key, place.field('private_key'));
  const password = readDataSource(message.password, place.field('password'));
  const ocsp = readOcspResponse(message.ocsp_staple, place.field('ocsp_staple'));
  if (!pkcs12 || !chain || !key || !password || !ocsp) return undefined;
  const rest = { parameters: message.tls_params ?? {}, place };
  const more = { password, ...(ocsp.length > 0 && { ocsp_response: ocsp }) };
  const path = message.certificate_chain ?? message.pkcs12;
  const times = ocspTimes(ocsp);
  if (pkcs12.length > 0) {
    if (chain.length > 0 || key.length > 0) {
      place.error('a TLS certificate has pkcs12, or a certificate_chain and a private_key', {
        expected: 'one of them',
      });
      return undefined;
    }
    return {
      plan: { pkcs12, ...more, name: name ?? UNNAMED_PKCS12 },
      file: { pem: certificateIn(pkcs12, password), path: pathOf(path) },
      ...rest,
    };
  }
  if (chain.length === 0 || key.length === 0) {
    place.error(
      chain.length === 0
        ? 'a TLS certificate needs its certificate_chain'
        : 'a TLS certificate needs its private_key',
    );
    return undefined;
  }
  return {
    plan: { chain, key, ...more, name: name ?? unnamed('cert', message.certificate_chain) },
    file: { pem: Buffer.from(chain), path: pathOf(path), ...(times && { ocsp: times }) },
    ...rest,
  };
}

/** In PEM. Empty where it cannot be read, which is said elsewhere. */
function certificateIn(pkcs12: Uint8Array, password: Uint8Array): Buffer {
  try {
    const { context } = tls().createSecureContext({
      pfx: Buffer.from(pkcs12),
      passphrase: Buffer.from(password).toString(),
    });
    const der = (context as { getCertificate?: () => Buffer | null }).getCertificate?.();
    return der ? Buffer.from(new (crypto().X509Certificate)(der).toString()) : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Undefined after an error. */
function readOcspResponse(source: DataSource | undefined, place: Place): Uint8Array | undefined {
  if (source?.inline_string !== undefined) {
    place.error('OCSP staple cannot be provided via inline_string', {
      expected: 'filename, or inline_bytes',
    });
    return undefined;
  }
  return readDataSource(source, place);
}

export const pathOf = (source: DataSource | undefined): string => source?.filename || '<inline>';

// envoy.transport_sockets.tls of a cluster. The gRPC clients of the control plane speak TLS; the data
// plane does not yet.
import type {
  envoy_config_core_v3_DataSource as DataSource,
  envoy_extensions_transport_sockets_tls_v3_CertificateValidationContext as Validation,
  envoy_extensions_transport_sockets_tls_v3_CommonTlsContext as Common,
  envoy_extensions_transport_sockets_tls_v3_TlsCertificate as Certificate,
  envoy_extensions_transport_sockets_tls_v3_TlsParameters as Parameters,
  envoy_extensions_transport_sockets_tls_v3_UpstreamTlsContext as UpstreamTls,
} from '../../../build/messages.gen.js';
import { secureContextOf } from '../../plan/cluster/secure-context.js';
import type { PemFile, SubjectTest, TlsVersion, UpstreamTlsPlan } from '../../plan/service-plan.js';
import { readDataSource, readTextSource } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';

const PACKAGE = 'envoy.extensions.transport_sockets.tls.v3';
// Connections last: sessions are not kept for later ones.
const UPSTREAM = supportedFields<UpstreamTls>(`${PACKAGE}.UpstreamTlsContext`, [
  'common_tls_context',
  'sni',
  'max_session_keys',
]);
const COMMON = supportedFields<Common>(`${PACKAGE}.CommonTlsContext`, [
  'tls_params',
  'tls_certificates',
  'validation_context',
  'alpn_protocols',
]);
const PARAMETERS = supportedFields<Parameters>(`${PACKAGE}.TlsParameters`, [
  'tls_minimum_protocol_version',
  'tls_maximum_protocol_version',
  'cipher_suites',
  'ecdh_curves',
  'signature_algorithms',
]);
const CERTIFICATE = supportedFields<Certificate>(`${PACKAGE}.TlsCertificate`, [
  'certificate_chain',
  'private_key',
  'password',
]);
const VALIDATION = supportedFields<Validation>(
  `${PACKAGE}.CertificateValidationContext`,
  [
    'trusted_ca',
    'verify_certificate_hash',
    'verify_certificate_spki',
    'crl',
    'match_subject_alt_names',
    'match_typed_subject_alt_names',
  ],
  { trust_chain_verification: 'VERIFY_TRUST_CHAIN' },
);

const VERSIONS: Readonly<Record<string, TlsVersion>> = {
  TLSv1_0: 'TLSv1',
  TLSv1_1: 'TLSv1.1',
  TLSv1_2: 'TLSv1.2',
  TLSv1_3: 'TLSv1.3',
};

/** Undefined after an error. */
export const upstreamTls = defineExtension<UpstreamTls, UpstreamTlsPlan | undefined>({
  name: 'envoy.transport_sockets.tls',
  type: UPSTREAM.type,
  compile(config, place) {
    refuseOtherFields(place, config, UPSTREAM);
    const common = config.common_tls_context ?? {};
    const at = place.field('common_tls_context');
    refuseOtherFields(at, common, COMMON);
    const validation = compileValidation(
      common.validation_context ?? {},
      at.field('validation_context'),
    );
    const certificates = compileCertificates(common, at.field('tls_certificates'));
    if (!validation || !certificates) return undefined;
    const plan = {
      sni: config.sni ?? '',
      ...validation,
      certificates,
      ...compileParameters(common.tls_params ?? {}, at.field('tls_params')),
      alpn: common.alpn_protocols?.length ? common.alpn_protocols : ['h2'],
    };
    try {
      secureContextOf(plan);
    } catch (error) {
      at.error(`TLS does not take this: ${(error as Error).message}`);
      return undefined;
    }
    return plan;
  },
});

function compileParameters(
  parameters: Parameters,
  place: Place,
): Pick<UpstreamTlsPlan, 'minVersion' | 'maxVersion' | 'ciphers' | 'curves' | 'signatures'> {
  refuseOtherFields(place, parameters, PARAMETERS);
  const list = (name: 'cipher_suites' | 'ecdh_curves' | 'signature_algorithms') => {
    const values = parameters[name];
    if (!values?.length) return undefined;
    values.forEach((value, index) => {
      if (value.startsWith('[')) {
        place.field(name).index(index).error('groups of equal preference are not supported yet', {
          expected: 'a name',
        });
      }
    });
    return values.join(':');
  };
  const ciphers = list('cipher_suites');
  const curves = list('ecdh_curves');
  const signatures = list('signature_algorithms');
  return {
    // What a client of the real server offers unless it is told.
    minVersion: VERSIONS[parameters.tls_minimum_protocol_version ?? ''] ?? 'TLSv1.2',
    maxVersion: VERSIONS[parameters.tls_maximum_protocol_version ?? ''] ?? 'TLSv1.2',
    ...(ciphers !== undefined && { ciphers }),
    ...(curves !== undefined && { curves }),
    ...(signatures !== undefined && { signatures }),
  };
}

function compileCertificates(
  common: Common,
  place: Place,
): UpstreamTlsPlan['certificates'] | undefined {
  const messages = common.tls_certificates ?? [];
  const plans = messages.flatMap((message, index) => {
    const at = place.index(index);
    refuseOtherFields(at, message, CERTIFICATE);
    const chain = readDataSource(message.certificate_chain, at.field('certificate_chain'));
    const key = readDataSource(message.private_key, at.field('private_key'));
    const passphrase = readTextSource(message.password, at.field('password'));
    if (!chain || !key || passphrase === undefined) return [];
    if (chain.length === 0 || key.length === 0) {
      at.error(
        chain.length === 0
          ? 'a TLS certificate needs its certificate_chain'
          : 'a TLS certificate needs its private_key',
      );
      return [];
    }
    return { chain: pemFile(message.certificate_chain, chain), key: Buffer.from(key), passphrase };
  });
  return plans.length === messages.length ? plans : undefined;
}

function compileValidation(
  message: Validation,
  place: Place,
): Pick<UpstreamTlsPlan, 'roots' | 'crl' | 'subjects' | 'hashes' | 'keyHashes'> | undefined {
  refuseOtherFields(place, message, VALIDATION);
  const roots = readDataSource(message.trusted_ca, place.field('trusted_ca'));
  const crl = readDataSource(message.crl, place.field('crl'));
  const subjects = compileSubjects(message, place);
  if (!roots || !crl || !subjects) return undefined;
  if (subjects.length > 0 && roots.length === 0) {
    place.error(
      'SAN-based verification of peer certificates without trusted CA is insecure and not allowed',
      { expected: 'trusted_ca' },
    );
  }
  return {
    ...(roots.length > 0 && { roots: pemFile(message.trusted_ca, roots) }),
    ...(crl.length > 0 && { crl: Buffer.from(crl) }),
    subjects,
    hashes: (message.verify_certificate_hash ?? []).map((hash) =>
      hash.replaceAll(':', '').toLowerCase(),
    ),
    keyHashes: message.verify_certificate_spki ?? [],
  };
}

const pemFile = (source: DataSource | undefined, bytes: Uint8Array): PemFile => ({
  pem: Buffer.from(bytes),
  path: source?.filename || '<inline>',
});

function compileSubjects(message: Validation, place: Place): SubjectTest[] | undefined {
  const typed = message.match_typed_subject_alt_names ?? [];
  // The older field is for a name of any type.
  const untyped = (message.match_subject_alt_names ?? []).flatMap((matcher, index) =>
    (['DNS', 'URI', 'EMAIL', 'IP_ADDRESS'] as const).map((type) => ({
      type,
      matcher,
      at: place.field('match_subject_alt_names').index(index),
    })),
  );
  const wanted = [
    ...typed.map(({ san_type: type, matcher }, index) => ({
      type,
      matcher,
      at: place.field('match_typed_subject_alt_names').index(index),
    })),
    ...untyped,
  ];
  const tests = wanted.map(({ type, matcher = {}, at }): SubjectTest | undefined => {
    if (type !== 'DNS' && type !== 'URI' && type !== 'EMAIL' && type !== 'IP_ADDRESS') {
      at.field('san_type').error(`names of type ${type} are not supported yet`, {
        expected: 'DNS, URI, EMAIL or IP_ADDRESS',
      });
      return undefined;
    }
    for (const how of ['exact', 'prefix', 'suffix', 'contains'] as const) {
      const value = matcher[how];
      if (value !== undefined)
        return { type, how, value, ignoreCase: matcher.ignore_case ?? false };
    }
    at.error('only exact, prefix, suffix and contains are supported yet for names');
    return undefined;
  });
  const found = tests.filter((test) => test !== undefined);
  return found.length === tests.length ? found : undefined;
}

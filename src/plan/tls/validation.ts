// What is asked of a peer's certificate.
import { existsSync, readFileSync } from 'node:fs';
import type {
  envoy_extensions_transport_sockets_tls_v3_CertificateValidationContext as Validation,
  envoy_extensions_transport_sockets_tls_v3_CommonTlsContext as Common,
  envoy_extensions_transport_sockets_tls_v3_CommonTlsContext_CombinedCertificateValidationContext as Combined,
  envoy_extensions_transport_sockets_tls_v3_SPIFFECertValidatorConfig as SpiffeConfig,
} from '../../../build/messages.gen.js';
import { compileStringMatcher } from '../match/matchers.js';
import { readDataSource } from '../message/data-source.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { SubjectMatch_Kind, type SubjectMatch, type TlsValidation } from '../plan.gen.js';
import type { PemFile } from '../service-plan.js';
import { pathOf } from './certificates.js';
import type { SecretFinder } from '../secret-finder.js';
import { certificatesIn } from './pem.js';
import { compileSpiffe, SPIFFE_TYPE, type SpiffePlan } from './spiffe.js';
import { unnamed } from './unnamed.js';

const PACKAGE = 'envoy.extensions.transport_sockets.tls.v3';
const VALIDATION = supportedFields<Validation>(`${PACKAGE}.CertificateValidationContext`, [
  'trusted_ca',
  'verify_certificate_hash',
  'verify_certificate_spki',
  'crl',
  'allow_expired_certificate',
  'match_subject_alt_names',
  'match_typed_subject_alt_names',
  'trust_chain_verification',
  'only_verify_leaf_cert_crl',
  'max_verify_depth',
  'system_root_certs',
  'suppress_client_ca_list',
  'custom_validator_config',
  'require_signed_certificate_timestamp',
  // Files of it are followed where a secret names them.
  'watched_directory',
]);
const COMBINED = supportedFields<Combined>(
  `${PACKAGE}.CommonTlsContext.CombinedCertificateValidationContext`,
  ['default_validation_context', 'validation_context_sds_secret_config'],
);

/** The number of each of them follows. */
const UNNAMED_SPIFFE = 'unnamed_ca_cert';
/** Where systems keep whom they trust. */
const SYSTEM_ROOTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];
const DEFAULT_VALIDATOR = 'envoy.tls.cert_validator.default';
const SPIFFE_VALIDATOR = 'envoy.tls.cert_validator.spiffe';
const SHA256_BYTES = 32;
const CRL_IN_PEM = '-----BEGIN X509 CRL-----';
/** The first number has two arcs' worth of meaning, and so few values. */
const OID = /^[0-2](\.\d+)+$/;

/** The message that counts, and where it is. */
export interface EffectiveValidation {
  readonly message: Validation;
  readonly place: Place;
  /** Undefined: it has none. */
  readonly name: string | undefined;
}

export interface ValidationPlan {
  readonly plan: TlsValidation;
  /** As /certs shows them. */
  readonly authorities: readonly PemFile[];
}

/**
 * Its own, that of a secret, or both together. Undefined: there is none, it has not come yet, or after
 * an error.
 */
export function findValidation(
  common: Common,
  place: Place,
  secrets: SecretFinder,
): EffectiveValidation | undefined {
  if (common.validation_context) {
    const at = place.field('validation_context');
    return { message: common.validation_context, place: at, name: undefined };
  }
  const config = common.validation_context_sds_secret_config;
  if (config) {
    const at = place.field('validation_context_sds_secret_config');
    const found = secrets.find('validation_context', config, at);
    return found && found !== 'pending' ? { ...found, name: config.name ?? '' } : undefined;
  }
  const combined = common.combined_validation_context;
  if (!combined) return undefined;
  const at = place.field('combined_validation_context');
  refuseOtherFields(at, combined, COMBINED);
  const named = combined.validation_context_sds_secret_config ?? {};
  const found = secrets.find(
    'validation_context',
    named,
    at.field('validation_context_sds_secret_config'),
  );
  if (!found || found === 'pending') return undefined;
  return {
    message: merged(combined.default_validation_context ?? {}, found.message),
    place: found.place,
    name: named.name ?? '',
  };
}

/** As messages are merged: lists one after the other, of anything else what the second one says. */
function merged(one: Validation, other: Validation): Validation {
  const result: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = result[name];
    result[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return result;
}

/** Undefined after an error. */
export function compileValidation({
  message,
  place,
  name,
}: EffectiveValidation): ValidationPlan | undefined {
  refuseOtherFields(place, message, VALIDATION);
  if (message.require_signed_certificate_timestamp) {
    place
      .field('require_signed_certificate_timestamp')
      .warn('has no effect, as in the real server: peers are not asked for one');
  }
  const custom = compileValidator(message, place);
  if (custom === undefined) return undefined;
  if (custom !== 'default') return compileSpiffeValidation(message, place, custom, name);
  const roots = readRoots(message, place);
  const crl = readDataSource(message.crl, place.field('crl'));
  const subjects = compileSubjects(message, place);
  const hashes = compileHashes(message.verify_certificate_hash, place, 'verify_certificate_hash');
  const keys = compileHashes(message.verify_certificate_spki, place, 'verify_certificate_spki');
  if (!roots || !crl || !subjects || !hashes || !keys) return undefined;
  if (crl.length > 0 && roots.pem.length === 0) {
    place.field('crl').error(`Failed to load CRL from ${pathOf(message.crl)} without trusted CA`, {
      expected: 'trusted_ca',
    });
  }
  if (crl.length > 0 && !Buffer.from(crl).includes(CRL_IN_PEM)) {
    place.field('crl').warn('holds no list of revoked certificates: no peer will be trusted', {
      expected: 'X509 CRL in PEM',
    });
  }
  if (subjects.length > 0 && roots.pem.length === 0) {
    place.error(
      'SAN-based verification of peer certificates without trusted CA is insecure and not allowed',
      { expected: 'trusted_ca' },
    );
  }
  if (message.allow_expired_certificate && roots.pem.length === 0) {
    place
      .field('allow_expired_certificate')
      .error('Certificate validity period is always ignored without trusted CA');
  }
  const plan: TlsValidation = {
    trusted_ca: roots.pem,
    crl,
    certificate_hashes: hashes,
    key_hashes: keys,
    subjects,
    allows_expired: message.allow_expired_certificate,
    accepts_untrusted: message.trust_chain_verification === 'ACCEPT_UNTRUSTED',
    only_leaf_crl: message.only_verify_leaf_cert_crl,
    max_depth: message.max_verify_depth,
    hides_ca_list: message.suppress_client_ca_list,
    name: name ?? unnamed('ca_cert', message.trusted_ca),
  };
  return {
    plan,
    authorities: message.trusted_ca ? shown(roots) : roots.pem.length > 0 ? [roots] : [],
  };
}

/** What is no certificate is shown as what is wrong with it, and so not left out. */
function shown(roots: PemFile): readonly PemFile[] {
  if (roots.pem.length === 0) return [];
  const found = certificatesIn(roots.pem.toString('latin1'), roots.path);
  return found.length < 2 ? [roots] : found;
}

/** Who verifies instead of the usual rules. Undefined after an error. */
function compileValidator(message: Validation, place: Place): 'default' | SpiffePlan | undefined {
  const { name = '', typed_config: config } = message.custom_validator_config ?? {};
  if (!message.custom_validator_config || name === DEFAULT_VALIDATOR) return 'default';
  const at = place.field('custom_validator_config');
  if (name === SPIFFE_VALIDATOR && config?.$type === SPIFFE_TYPE) {
    return compileSpiffe(config as SpiffeConfig, at.field('typed_config'));
  }
  at.field('name').error(`Failed to get certificate validator factory for ${name}`, {
    expected: `${DEFAULT_VALIDATOR}, or ${SPIFFE_VALIDATOR} with ${SPIFFE_TYPE}`,
  });
  return undefined;
}

/** Of the rest only names that are URIs, and whether old certificates do, matter to it. */
function compileSpiffeValidation(
  message: Validation,
  place: Place,
  { trust, authorities }: SpiffePlan,
  name: string | undefined,
): ValidationPlan | undefined {
  const subjects = compileSubjects(message, place);
  if (!subjects) return undefined;
  const plan: TlsValidation = {
    spiffe: trust,
    subjects: subjects.filter(({ kind }) => kind === SubjectMatch_Kind.URI),
    allows_expired: message.allow_expired_certificate,
    hides_ca_list: message.suppress_client_ca_list,
    name: name ?? UNNAMED_SPIFFE,
  };
  return { plan, authorities };
}

function readRoots(message: Validation, place: Place): PemFile | undefined {
  if (!message.trusted_ca && message.system_root_certs) {
    const path = SYSTEM_ROOTS.find((candidate) => existsSync(candidate));
    if (path !== undefined) return { pem: readFileSync(path), path };
    place
      .field('system_root_certs')
      .error('this system has no certificates of those whom it trusts', {
        expected: SYSTEM_ROOTS.join(', '),
      });
    return undefined;
  }
  const { inline_string: text, inline_bytes: inline } = message.trusted_ca ?? {};
  if (text === '' || inline?.length === 0) {
    place
      .field('trusted_ca')
      .error('DataSource cannot be empty', { expected: 'authorities in PEM' });
    return undefined;
  }
  const bytes = readDataSource(message.trusted_ca, place.field('trusted_ca'));
  if (message.trusted_ca?.filename && bytes?.length === 0) {
    place.field('trusted_ca').error(`file ${message.trusted_ca.filename} is empty`);
    return undefined;
  }
  return bytes && { pem: Buffer.from(bytes), path: pathOf(message.trusted_ca) };
}

/** SHA-256: of certificates in hex, with or without colons, of keys in base64. */
function compileHashes(
  texts: readonly string[] | undefined,
  place: Place,
  field: 'verify_certificate_hash' | 'verify_certificate_spki',
): Uint8Array[] | undefined {
  const encoding = field === 'verify_certificate_hash' ? 'hex' : 'base64';
  const hashes = (texts ?? []).map((text, index) => {
    const plain = encoding === 'hex' ? text.replaceAll(':', '') : text;
    const bytes = Buffer.from(plain, encoding);
    if (bytes.length === SHA256_BYTES) return bytes;
    place.field(field).index(index).error(`Invalid ${encoding}-encoded SHA-256 ${text}`);
    return undefined;
  });
  const found = hashes.filter((hash) => hash !== undefined);
  return found.length === hashes.length ? found : undefined;
}

const KINDS: Readonly<Record<string, SubjectMatch_Kind>> = {
  DNS: SubjectMatch_Kind.DNS,
  URI: SubjectMatch_Kind.URI,
  EMAIL: SubjectMatch_Kind.EMAIL,
  IP_ADDRESS: SubjectMatch_Kind.IP_ADDRESS,
  OTHER_NAME: SubjectMatch_Kind.OTHER_NAME,
};

function compileSubjects(message: Validation, place: Place): SubjectMatch[] | undefined {
  const typed = (message.match_typed_subject_alt_names ?? []).map((subject, index) => ({
    subject,
    at: place.field('match_typed_subject_alt_names').index(index),
  }));
  // The older field is for a name of any type.
  const untyped = (message.match_subject_alt_names ?? []).flatMap((matcher, index) =>
    (['DNS', 'URI', 'EMAIL', 'IP_ADDRESS'] as const).map((type) => ({
      subject: { san_type: type, matcher },
      at: place.field('match_subject_alt_names').index(index),
    })),
  );
  const subjects = [...typed, ...(typed.length > 0 ? [] : untyped)].map(({ subject, at }) => {
    const kind = KINDS[subject.san_type ?? ''];
    const match = compileStringMatcher(subject.matcher ?? {}, at.field('matcher'));
    const oid = 'oid' in subject ? (subject.oid ?? '') : '';
    if (kind === undefined) {
      at.field('san_type').error('unknown SAN type', { expected: Object.keys(KINDS).join(', ') });
    }
    if (kind === SubjectMatch_Kind.OTHER_NAME && oid === '') {
      at.error('oid is required for san_type OTHER_NAME', { expected: 'oid' });
      return undefined;
    }
    if (kind === SubjectMatch_Kind.OTHER_NAME && !OID.test(oid)) {
      at.field('oid').error(`Failed to create SAN matcher for OTHER_NAME with OID: ${oid}`, {
        expected: 'numbers and dots, such as 1.3.6.1.4.1.311.20.2.3',
      });
      return undefined;
    }
    return kind !== undefined && match ? { kind, match, oid } : undefined;
  });
  const found = subjects.filter((subject) => subject !== undefined);
  return found.length === subjects.length ? found : undefined;
}

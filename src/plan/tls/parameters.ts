// Versions, cipher suites, curves and signature algorithms, as OpenSSL reads them.
import type { envoy_extensions_transport_sockets_tls_v3_TlsParameters as Parameters } from '../../../build/messages.gen.js';
import { nearestName } from '../../base/suggest.js';
import type { Place } from '../message/place.js';
import type { TlsContext } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const PARAMETERS = supportedFields<Parameters>(
  'envoy.extensions.transport_sockets.tls.v3.TlsParameters',
  [
    'tls_minimum_protocol_version',
    'tls_maximum_protocol_version',
    'cipher_suites',
    'ecdh_curves',
    'signature_algorithms',
    'compliance_policies',
  ],
);

const VERSIONS: Readonly<Record<string, number>> = {
  TLSv1_0: 0x0301,
  TLSv1_1: 0x0302,
  TLSv1_2: 0x0303,
  TLSv1_3: 0x0304,
};
const TLS_1_2 = 0x0303;
const TLS_1_3 = 0x0304;

/** What the real server allows unless it is told, before TLS 1.3: those of a group are equals. */
const DEFAULT_CIPHERS = [
  '[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]',
  '[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-CHACHA20-POLY1305]',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
];
const DEFAULT_CURVES = ['X25519', 'P-256'];

const CIPHERS = new Set([
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-RSA-AES128-SHA256',
  'ECDHE-PSK-AES128-CBC-SHA',
  'ECDHE-PSK-AES256-CBC-SHA',
  'ECDHE-PSK-CHACHA20-POLY1305',
  'PSK-AES128-CBC-SHA',
  'PSK-AES256-CBC-SHA',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA',
  'AES256-SHA',
]);
/** By their names in RFCs, too. */
const STANDARD_CIPHERS: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256', 'ECDHE-ECDSA-AES128-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256', 'ECDHE-RSA-AES128-SHA256'],
  ['TLS_RSA_WITH_AES_128_GCM_SHA256', 'AES128-GCM-SHA256'],
  ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA', 'AES128-SHA'],
  ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
  ['TLS_RSA_WITH_3DES_EDE_CBC_SHA', 'DES-CBC3-SHA'],
]);
/** Those of TLS 1.3, which a list may name and does not choose. */
const TLS13_CIPHERS = new Set([
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
]);
/** The real server's library has it still; OpenSSL has not. */
const TRIPLE_DES = new Set(['DES-CBC3-SHA', '3DES']);
/** Nobody here has a key for it: what a list has in the place of a suite that is not there. */
const NEVER_AGREED_ON = 'PSK-AES128-CBC-SHA';
/** Words for many suites at once; a sign before them takes them away or puts them last. */
const CIPHER_WORDS =
  /^[-+!]?(ALL|HIGH|FIPS|TLSv1|TLSv1\.2|SSLv3|kRSA|RSA|kECDHE|kEECDH|ECDHE|ECDH|EECDH|aRSA|aECDSA|ECDSA|AES128|AES256|AES|AESGCM|CHACHA20|SHA1|SHA|kPSK|aPSK|PSK|3DES)(\+[A-Za-z0-9]+)*$|^@STRENGTH$/;
/** By either of their names. */
const CURVES = new Set([
  'X25519',
  'P-256',
  'P-384',
  'P-521',
  'x25519',
  'prime256v1',
  'secp384r1',
  'secp521r1',
]);
const CURVE_ALIASES: Readonly<Record<string, string>> = {
  x25519: 'X25519',
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};
/** The real server has these, and OpenSSL has them since 3.5. */
const LATER_CURVES = new Set(['X25519MLKEM768', 'MLKEM1024']);
const HAS_LATER_CURVES = isSince35(process.versions.openssl ?? '');

/** As OpenSSL spells what the real server's library has names for. */
const SIGNATURES: Readonly<Record<string, string>> = {
  rsa_pkcs1_sha1: 'RSA+SHA1',
  ecdsa_sha1: 'ECDSA+SHA1',
};
/** Of versions before 1.2, which have no other. */
const ONLY_SIGNATURE_BEFORE_1_2 = 'rsa_pkcs1_md5_sha1';

/** FIPS_202205 overrules whatever else is configured (NIST SP 800-52r2). */
const FIPS_202205: ParameterPlan = {
  min_version: TLS_1_2,
  max_version: TLS_1_3,
  ciphers: [
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES256-GCM-SHA384',
  ].join(':'),
  weighs_chacha: false,
  tls13_ciphers: 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384',
  curves: 'P-256:P-384',
  signature_algorithms: [
    'rsa_pkcs1_sha256',
    'rsa_pkcs1_sha384',
    'rsa_pkcs1_sha512',
    'ecdsa_secp256r1_sha256',
    'ecdsa_secp384r1_sha384',
    'rsa_pss_rsae_sha256',
    'rsa_pss_rsae_sha384',
    'rsa_pss_rsae_sha512',
  ].join(':'),
};

export type ParameterPlan = Pick<
  TlsContext,
  | 'min_version'
  | 'max_version'
  | 'ciphers'
  | 'tls13_ciphers'
  | 'weighs_chacha'
  | 'curves'
  | 'signature_algorithms'
>;

export function compileParameters(
  parameters: Parameters,
  place: Place,
  isServer: boolean,
): ParameterPlan {
  refuseOtherFields(place, parameters, PARAMETERS);
  const ciphers = orDefault(parameters.cipher_suites, DEFAULT_CIPHERS);
  const curves = compileCurves(parameters, place.field('ecdh_curves'));
  const names = ciphers.flatMap((one) => namesOfGroup(one));
  parameters.cipher_suites?.forEach((group, index) => {
    const at = place.field('cipher_suites').index(index);
    for (const name of namesOfGroup(group)) {
      if (name !== 'DEFAULT' || name !== names[0]) refuseUnknownCipher(name, at);
    }
  });
  const list = names.flatMap((name) => inOpenSsl(name));
  if (list.length === 0) {
    place.field('cipher_suites').error(`Failed to initialize cipher suites ${ciphers.join(':')}`, {
      expected: `one of ${[...CIPHERS].join(', ')}`,
    });
  }
  for (const [index, policy] of (parameters.compliance_policies ?? []).entries()) {
    if (policy === 'FIPS_202205') return FIPS_202205;
    place
      .field('compliance_policies')
      .index(index)
      .error(`the policy ${policy} is not supported yet`, { expected: 'FIPS_202205' });
  }
  return {
    min_version: VERSIONS[parameters.tls_minimum_protocol_version ?? ''] ?? TLS_1_2,
    max_version:
      VERSIONS[parameters.tls_maximum_protocol_version ?? ''] ?? (isServer ? TLS_1_3 : TLS_1_2),
    ciphers: list.join(':'),
    weighs_chacha: ciphers.some((one) => one.startsWith('[') && one.includes('CHACHA20')),
    curves: curves.join(':'),
    signature_algorithms: compileSignatures(
      parameters.signature_algorithms ?? [],
      place.field('signature_algorithms'),
    ),
  };
}

function compileSignatures(names: readonly string[], place: Place): string {
  const asked = names.flatMap((name) => name.split(':'));
  const known = asked.filter((name) => name !== ONLY_SIGNATURE_BEFORE_1_2);
  const isOther = known.length === 0 && asked.length > 0;
  if (isOther || known.some((name) => name.startsWith('rsa_pss_pss_'))) {
    place.error(`Failed to initialize TLS signature algorithms ${names.join(':')}`);
  }
  return known.map((name) => SIGNATURES[name] ?? name).join(':');
}

function isSince35(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 5);
}

/** Each may be a list of its own, with colons. */
function compileCurves(parameters: Parameters, place: Place): readonly string[] {
  const text = (parameters.ecdh_curves ?? []).join(':');
  if (text === '') return DEFAULT_CURVES;
  const seen = new Set<string>();
  parameters.ecdh_curves?.forEach((list, index) => {
    for (const name of list.split(':')) {
      const canonical = CURVE_ALIASES[name] ?? name;
      if (LATER_CURVES.has(name) && HAS_LATER_CURVES) continue;
      if (LATER_CURVES.has(name)) {
        place
          .index(index)
          .error(
            `the curve ${name} needs OpenSSL 3.5, and this Node has ${process.versions.openssl}`,
          );
      } else if (!CURVES.has(name) || seen.has(canonical)) {
        place.index(index).error(`Failed to initialize ECDH curves ${text}`, {
          expected: `one of ${[...CURVES].join(', ')}, each once`,
          suggestion: seen.has(canonical) ? undefined : nearestName(name, CURVES),
        });
      }
      seen.add(canonical);
    }
  });
  return text.split(':');
}

const orDefault = (list: readonly string[] | undefined, fallback: readonly string[]) =>
  list?.length ? list : fallback;

/** "[A|B]": A and B are as good as each other. */
function namesOfGroup(text: string): string[] {
  return text
    .split(':')
    .flatMap((part) => part.replace(/^\[(.*)\]$/, '$1').split('|'))
    .filter((name) => name !== '')
    .map((name) => STANDARD_CIPHERS.get(name) ?? name);
}

/** A name or word as OpenSSL has it. */
function inOpenSsl(name: string): readonly string[] {
  const [, sign = '', bare = ''] = /^([-+!]?)(.*)$/.exec(name) ?? [];
  if (TLS13_CIPHERS.has(bare) || name === '@STRENGTH') return [];
  if (TRIPLE_DES.has(bare)) return sign === '' ? [NEVER_AGREED_ON] : [];
  if (bare === 'ECDH') return [`${sign}ECDHE`];
  return [name === 'DEFAULT' ? 'ALL' : name];
}

function refuseUnknownCipher(name: string, place: Place): void {
  const bare = name.replace(/^[-+!]/, '');
  if ([CIPHERS, TLS13_CIPHERS, TRIPLE_DES].some((set) => set.has(bare))) return;
  if (CIPHER_WORDS.test(name)) return;
  place.error(
    `Failed to initialize cipher suites: the following ciphers were rejected when tried individually: ${name}`,
    { expected: `one of ${[...CIPHERS].join(', ')}`, suggestion: nearestName(name, CIPHERS) },
  );
}

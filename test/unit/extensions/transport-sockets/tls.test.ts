import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster, FilterChain } from '../../../../src/plan/plan.gen.js';
import { SubjectMatch_Kind, TlsServer_OcspPolicy } from '../../../../src/plan/plan.gen.js';
import {
  AUTHORITY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../../../integration/support/certificates.js';
import { any, compile, ECHO, issuesOf, listenerOf } from '../../plan/helpers.js';

const TYPES = 'envoy.extensions.transport_sockets.tls.v3';
const text = (inline_string: string) => ({ inline_string });
const PAIR = { certificate_chain: text(SERVER_CERTIFICATE), private_key: text(SERVER_KEY) };

interface Compiled {
  readonly issues: readonly string[];
  readonly chain: FilterChain | undefined;
}

function compileChain(context: object, bootstrap: object = {}): Compiled {
  const chain = {
    filters: [{ name: 'echo', typed_config: any(ECHO) }],
    transport_socket: {
      name: 'envoy.transport_sockets.tls',
      typed_config: any(`${TYPES}.DownstreamTlsContext`, context),
    },
    transport_socket_connect_timeout: 1500,
  };
  const compiled = compile({
    node: { id: 'a', cluster: 'b' },
    static_resources: {
      listeners: [listenerOf(any(ECHO), { filter_chains: [chain] })],
      ...bootstrap,
    },
  });
  return {
    issues: issuesOf(compiled),
    chain: compiled.update.listeners?.[0]?.filter_chains?.[0],
  };
}

const common = (fields: object): object => ({
  require_client_certificate: false,
  common_tls_context: { tls_certificates: [PAIR], ...fields },
});

function compileCluster(context: object): {
  issues: readonly string[];
  cluster: Cluster | undefined;
  /** Whom the control plane trusts. */
  roots: Buffer | undefined;
} {
  const compiled = compile({
    static_resources: {
      clusters: [
        {
          name: 'origin',
          transport_socket: {
            name: 'envoy.transport_sockets.tls',
            typed_config: any(`${TYPES}.UpstreamTlsContext`, context),
          },
        },
      ],
    },
  });
  return {
    issues: issuesOf(compiled),
    cluster: compiled.update.clusters?.[0],
    roots: compiled.context.grpcClusters.get('origin')?.tls?.roots,
  };
}

test('a server speaks TLS 1.2 and 1.3, a client 1.2, with the ciphers of the real server', () => {
  const { issues, chain } = compileChain(common({}));
  assert.deepEqual(issues, []);
  assert.equal(chain?.tls?.min_version, 0x0303);
  assert.equal(chain.tls.max_version, 0x0304);
  assert.equal(chain.tls.curves, 'X25519:P-256');
  assert.match(
    chain.tls.ciphers ?? '',
    /^ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:/,
  );
  assert.equal(chain.tls.weighs_chacha, true);
  assert.equal(chain.handshake_timeout_ms, 1500);
  const { cluster } = compileCluster({ sni: 'a.test' });
  assert.equal(cluster?.tls?.max_version, 0x0303);
  assert.equal(cluster.tls.sni, 'a.test');
  assert.equal(cluster.tls.max_sessions, 1);
});

test('lists of names are checked one by one, with the nearest name', () => {
  const issues = (tls_params: object) => compileChain(common({ tls_params })).issues;
  assert.match(
    issues({ cipher_suites: ['[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-AES128-GCM-SHA26]'] })[0] ??
      '',
    /cipher_suites\[0\]: .*rejected.*: ECDHE-RSA-AES128-GCM-SHA26 \(ECDHE-RSA-AES128-GCM-SHA256\?\)$/,
  );
  for (const odd of ['constructor', '__proto__', 'toString']) {
    assert.match(issues({ cipher_suites: [odd] })[0] ?? '', /ciphers were rejected/, odd);
  }
  assert.match(
    issues({ ecdh_curves: ['P256'] })[0] ?? '',
    /ecdh_curves\[0\]: Failed to initialize ECDH curves P256 \(P-256\?\)$/,
  );
  assert.deepEqual(issues({ cipher_suites: ['ALL', '!AES128-SHA', 'ECDHE+AESGCM'] }), []);
  for (const wrong of ['!aNULL', 'HIGH:!MD5', 'SHA256', 'LOW', 'AES128-SHA:DEFAULT']) {
    assert.match(issues({ cipher_suites: [wrong] })[0] ?? '', /ciphers were rejected/, wrong);
  }
  for (const nothing of ['[]', 'TLS_AES_128_GCM_SHA256', '@STRENGTH']) {
    assert.match(issues({ cipher_suites: [nothing] })[0] ?? '', /initialize cipher suites/);
  }
  const ciphers = (cipher_suites: string[]) =>
    compileChain(common({ tls_params: { cipher_suites } })).chain?.tls?.ciphers;
  assert.equal(ciphers(['AES128-SHA', 'TLS_AES_128_GCM_SHA256', '@STRENGTH']), 'AES128-SHA');
  assert.equal(ciphers(['DEFAULT:!DES-CBC3-SHA', 'ECDH']), 'ALL:ECDHE');
  assert.equal(ciphers(['DES-CBC3-SHA']), 'PSK-AES128-CBC-SHA');
  for (const wrong of ['rsa_pss_pss_sha256', 'rsa_pkcs1_md5_sha1']) {
    assert.match(issues({ signature_algorithms: [wrong] })[0] ?? '', /TLS signature algorithms/);
  }
  const others = [
    'TLS_RSA_WITH_AES_128_CBC_SHA',
    'ECDHE-ECDSA-AES128-SHA256',
    'PSK-AES128-CBC-SHA',
  ];
  assert.deepEqual(issues({ cipher_suites: others }), []);
  assert.deepEqual(issues({ ecdh_curves: ['X25519:prime256v1', 'P-384'] }), []);
  for (const wrong of [['P-256:'], ['P-256', 'P-256'], ['P-256:prime256v1'], ['P-224']]) {
    assert.match(issues({ ecdh_curves: wrong })[0] ?? '', /Failed to initialize ECDH curves /);
  }
  const [later] = issues({ ecdh_curves: ['X25519MLKEM768'] });
  const [major = 0, minor = 0] = (process.versions.openssl ?? '').split('.').map(Number);
  if (major > 3 || minor >= 5) assert.equal(later, undefined);
  else assert.match(later ?? '', /ecdh_curves\[0\]: the curve X25519MLKEM768 needs OpenSSL 3\.5/);
  assert.match(
    issues({ compliance_policies: ['CNSA2_202603'] })[0] ?? '',
    /compliance_policies\[0\]: the policy CNSA2_202603 is not supported yet$/,
  );
});

test('what a certificate says of its connections comes before what its context says', () => {
  const tls_params = { cipher_suites: ['ECDHE-RSA-AES128-GCM-SHA256'], ecdh_curves: ['P-384'] };
  const own = { ecdh_curves: ['P-521'], signature_algorithms: ['rsa_pss_rsae_sha512'] };
  const one = { ...PAIR, tls_params: own };
  const of = (tls_certificates: object[]) =>
    compileChain({ common_tls_context: { tls_certificates, tls_params } });
  const { issues, chain } = of([one, one]);
  assert.deepEqual(issues, []);
  assert.equal(chain?.tls?.ciphers, 'ECDHE-RSA-AES128-GCM-SHA256');
  assert.equal(chain.tls.curves, 'P-521');
  assert.equal(chain.tls.signature_algorithms, 'rsa_pss_rsae_sha512');
  assert.deepEqual(of([one, PAIR]).issues, [
    'error typed_config.common_tls_context.tls_certificates[1].tls_params: certificates of one context with different tls_params are not supported',
  ]);
});

test('FIPS_202205 overrules what else is configured; signatures have the names that OpenSSL knows', () => {
  const of = (tls_params: object) => compileChain(common({ tls_params })).chain?.tls;
  const fips = of({
    compliance_policies: ['FIPS_202205'],
    tls_minimum_protocol_version: 'TLSv1_0',
    ecdh_curves: ['X25519'],
    cipher_suites: ['AES128-SHA'],
  });
  assert.equal(fips?.min_version, 0x0303);
  assert.equal(fips.max_version, 0x0304);
  assert.equal(fips.curves, 'P-256:P-384');
  assert.doesNotMatch(`${fips.ciphers}${fips.tls13_ciphers}`, /CHACHA20|AES128-SHA:/);
  const signature_algorithms = ['ecdsa_sha1', 'rsa_pkcs1_md5_sha1', 'ed25519'];
  assert.equal(of({ signature_algorithms })?.signature_algorithms, 'ECDSA+SHA1:ed25519');
});

test('a trust domain of SPIFFE has authorities of its own, in files or in one map of all', () => {
  const validator = (fields: object, more: object = {}) =>
    compileChain(
      common({
        validation_context: {
          custom_validator_config: {
            name: 'envoy.tls.cert_validator.spiffe',
            typed_config: any(`${TYPES}.SPIFFECertValidatorConfig`, fields),
          },
          ...more,
        },
      }),
    );
  const domain = { name: 'a.test', trust_bundle: text(AUTHORITY) };
  const san = (san_type: string) => ({ san_type, matcher: { exact: 'x' } });
  const { issues, chain } = validator(
    { trust_domains: [domain] },
    { match_typed_subject_alt_names: [san('DNS'), san('URI')] },
  );
  assert.deepEqual(issues, []);
  const { spiffe, subjects } = chain?.tls?.validation ?? {};
  assert.equal(spiffe?.domains?.[0]?.name, 'a.test');
  assert.deepEqual(
    subjects?.map(({ kind }) => kind),
    [SubjectMatch_Kind.URI],
  );
  assert.match(
    validator({ trust_domains: [domain, domain] }).issues[0] ?? '',
    /trust_domains\[1\]: Multiple trust bundles are given for one trust domain for a\.test$/,
  );
  const bundles = (map: unknown) =>
    validator({ trust_bundles: text(typeof map === 'string' ? map : JSON.stringify(map)) });
  const x5c = [AUTHORITY.replace(/-----[^-]+-----|\s/g, '')];
  const good = bundles({ trust_domains: { 'b.test': { keys: [{ use: 'x509-svid', x5c }] } } });
  assert.deepEqual(good.issues, []);
  const pem = good.chain?.tls?.validation?.spiffe?.domains?.[0]?.authorities;
  assert.equal(
    Buffer.from(pem ?? [])
      .toString()
      .trim(),
    AUTHORITY.trim(),
  );
  const wrong = (map: unknown) => bundles(map).issues[0]?.replace(/^.*trust_bundles: /, '');
  assert.equal(wrong('{'), 'Invalid JSON found in SPIFFE bundle');
  assert.equal(wrong({}), 'No trust domains found in SPIFFE bundle');
  const keysOf = (keys: unknown) => ({ trust_domains: { a: { keys } } });
  assert.equal(wrong(keysOf([])), "No keys found in SPIFFE bundle for domain 'a'");
  assert.equal(
    wrong(keysOf([{ use: 'jwt-svid' }])),
    "missing or invalid 'use' field found in cert for domain 'a'",
  );
  assert.equal(
    wrong(keysOf([{ use: 'x509-svid' }])),
    "missing or empty 'x5c' field found in keys for domain: 'a'",
  );
  assert.equal(
    wrong(keysOf([{ use: 'x509-svid', x5c: ['AAAA'] }])),
    "Invalid x509 object in certs for domain 'a'",
  );
});

test('a validator that there is not is refused; the usual one may be named', () => {
  const named = (name: string) =>
    compileChain(
      common({
        validation_context: {
          custom_validator_config: { name, typed_config: any('google.protobuf.Empty') },
        },
      }),
    ).issues;
  assert.deepEqual(named('envoy.tls.cert_validator.default'), []);
  assert.match(named('x')[0] ?? '', /Failed to get certificate validator factory for x$/);
});

test('a server without a certificate, a pair without its half, and short ticket keys are refused', () => {
  assert.match(
    compileChain({ common_tls_context: {} }).issues[0] ?? '',
    /No TLS certificates found for server context$/,
  );
  const half = { certificate_chain: text(SERVER_CERTIFICATE) };
  assert.match(
    compileChain({ common_tls_context: { tls_certificates: [half] } }).issues[0] ?? '',
    /tls_certificates\[0\]: a TLS certificate needs its private_key$/,
  );
  const keys = { keys: [text('too short')] };
  assert.match(
    compileChain({ ...common({}), session_ticket_keys: keys }).issues[0] ?? '',
    /session_ticket_keys\.keys\[0\]: Incorrect TLS session ticket key length\. Length 9, expected length 80\.$/,
  );
});

test('what is asked of peers: hashes in hex and base64, names by type', () => {
  const hash = 'ab'.repeat(32);
  const { issues, chain } = compileChain(
    common({
      validation_context: {
        trusted_ca: text(AUTHORITY),
        verify_certificate_hash: [hash.replaceAll(/..(?=.)/g, '$&:')],
        verify_certificate_spki: [Buffer.from(hash, 'hex').toString('base64')],
        match_typed_subject_alt_names: [{ san_type: 'URI', matcher: { prefix: 'spiffe://' } }],
        trust_chain_verification: 'ACCEPT_UNTRUSTED',
        max_verify_depth: 2,
      },
    }),
  );
  assert.deepEqual(issues, []);
  const validation = chain?.tls?.validation;
  assert.equal(Buffer.from(validation?.certificate_hashes?.[0] ?? []).toString('hex'), hash);
  assert.equal(Buffer.from(validation?.key_hashes?.[0] ?? []).toString('hex'), hash);
  assert.equal(validation?.subjects?.[0]?.kind, SubjectMatch_Kind.URI);
  assert.equal(validation.accepts_untrusted, true);
  assert.equal(validation.max_depth, 2);
  const wrong = { trusted_ca: text(AUTHORITY), verify_certificate_hash: ['ab'] };
  assert.match(
    compileChain(common({ validation_context: wrong })).issues[0] ?? '',
    /verify_certificate_hash\[0\]: Invalid hex-encoded SHA-256 ab$/,
  );
});

test('secrets of the bootstrap are used by their names, alone or with a default beside them', () => {
  const secrets = [
    { name: 'pair', tls_certificate: PAIR },
    { name: 'authority', validation_context: { trusted_ca: text(AUTHORITY) } },
  ];
  const named = {
    tls_certificate_sds_secret_configs: [{ name: 'pair' }],
    combined_validation_context: {
      default_validation_context: { max_verify_depth: 1 },
      validation_context_sds_secret_config: { name: 'authority' },
    },
  };
  const { issues, chain } = compileChain(
    { require_client_certificate: false, common_tls_context: named },
    { secrets },
  );
  assert.deepEqual(issues, []);
  assert.equal(chain?.tls?.certificates?.[0]?.name, 'pair');
  assert.equal(chain.tls.validation?.name, 'authority');
  assert.equal(chain.tls.validation.max_depth, 1);
});

test('several certificates are for servers, and lists of protocols may be empty', () => {
  assert.match(
    compileCluster({ common_tls_context: { tls_certificates: [PAIR, PAIR] } }).issues[0] ?? '',
    /Multiple TLS certificates are not supported for client contexts$/,
  );
  assert.deepEqual(compileChain(common({ alpn_protocols: [''] })).chain?.tls?.alpn, []);
  assert.deepEqual(compileChain(common({ alpn_protocols: ['a,b'] })).chain?.tls?.alpn, ['a', 'b']);
});

test('an OCSP response is bytes; the key log has a path, and ranges of addresses', () => {
  const stapled = { ...PAIR, ocsp_staple: text('x') };
  assert.match(
    compileChain({ common_tls_context: { tls_certificates: [stapled] } }).issues[0] ?? '',
    /tls_certificates\[0\]\.ocsp_staple: OCSP staple cannot be provided via inline_string$/,
  );
  const range = { address_prefix: '127.0.0.0', prefix_len: 8 };
  const { issues, chain } = compileChain({
    ...common({ key_log: { path: '/tmp/fairlead-keys', remote_address_range: [range] } }),
    ocsp_staple_policy: 'STRICT_STAPLING',
  });
  assert.deepEqual(issues, []);
  assert.equal(chain?.tls?.key_log?.path, '/tmp/fairlead-keys');
  assert.equal(chain.tls.key_log.remote?.[0]?.prefix_length, 8);
  assert.equal(chain.tls.server?.ocsp_policy, TlsServer_OcspPolicy.STRICT);
});

test('what the real server takes and does not do is told', () => {
  const warned = (fields: object, validation_context?: object) =>
    compileChain({
      ...common(validation_context ? { validation_context } : {}),
      ...fields,
    }).issues.map((issue) => issue.replace(/: .*$/, ''));
  const required = { require_client_certificate: true };
  const told = ['warning typed_config.require_client_certificate'];
  assert.deepEqual(warned({ require_sni: true }), ['warning typed_config.require_sni']);
  assert.deepEqual(warned(required), told);
  assert.deepEqual(warned(required, {}), told);
  assert.deepEqual(warned(required, { trusted_ca: text(AUTHORITY) }), []);
  assert.deepEqual(warned(required, { verify_certificate_hash: ['ab'.repeat(32)] }), []);
  const unsaid = { common_tls_context: { tls_certificates: [PAIR], validation_context: {} } };
  assert.match(compileChain(unsaid).issues[0] ?? '', /: this default is deprecated$/);
  const stamped = { trusted_ca: text(AUTHORITY), require_signed_certificate_timestamp: true };
  assert.equal(warned({}, stamped).length, 1);
});

test('the control plane trusts whatever authorities a file has, as workers do', () => {
  const both = `${AUTHORITY}\n${SERVER_CERTIFICATE}`;
  const validation = { validation_context: { trusted_ca: text(both) } };
  const { cluster, roots } = compileCluster({ common_tls_context: validation });
  assert.equal(Buffer.from(cluster?.tls?.validation?.trusted_ca ?? []).toString(), both);
  assert.equal(roots?.toString(), both);
});

test('the name of a server is only checked by authorities', () => {
  const problems = (validation?: object): string =>
    compileCluster({
      auto_sni_san_validation: true,
      common_tls_context: { validation_context: validation },
    }).issues.join();
  assert.equal(problems({ trusted_ca: text(AUTHORITY) }), '');
  assert.match(problems({}), /'auto_sni_san_validation' was configured without .* trusted CA/);
  assert.match(problems(), /'auto_sni_san_validation' was configured without a validation context/);
});

// What the proxy is started with: a listener for each way to ask things of clients, a cluster for each
// way to speak with hosts; and certificates for all of them.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3';
const FILTERS = 'type.googleapis.com/envoy.extensions.filters';

const openssl = (directory, ...args) =>
  execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });

/** ca and other; ec and rsa of the server; client of ca, stranger of other. */
export function makeCertificates(directory) {
  for (const name of ['ca', 'other']) {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const out = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
    openssl(directory, 'req', '-x509', ...key, '-subj', `/CN=${name}`, '-days', '30', ...out);
  }
  const kinds = { ec: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], rsa: ['rsa:2048'] };
  const all = {
    ec: ['ca', 'ec'],
    rsa: ['ca', 'rsa'],
    client: ['ca', 'ec'],
    stranger: ['other', 'ec'],
  };
  for (const [name, [authority, kind]] of Object.entries(all)) {
    const out = ['-keyout', `${name}.key`, '-out', `${name}.csr`];
    openssl(directory, 'req', '-newkey', ...kinds[kind], '-nodes', '-subj', `/CN=${name}`, ...out);
    writeFileSync(join(directory, `${name}.ext`), 'subjectAltName=DNS:server.test');
    const signer = ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`, '-CAcreateserial'];
    const how = ['-days', '30', '-extfile', `${name}.ext`, '-out', `${name}.crt`];
    openssl(directory, 'x509', '-req', '-in', `${name}.csr`, ...signer, ...how);
  }
  return (name) => readFileSync(join(directory, name), 'utf8');
}

const keyLog = (byte) => Buffer.alloc(80, byte).toString('base64');

/** What listeners ask of clients. `certificates` of the server; the rest goes over the context. */
export const LISTENERS = {
  any: { certificates: ['ec', 'rsa'] },
  ec: { certificates: ['ec'] },
  rsa: { certificates: ['rsa'] },
  'only-1.2': {
    certificates: ['ec'],
    common: { tls_params: { tls_maximum_protocol_version: 'TLSv1_2' } },
  },
  'only-1.3': {
    certificates: ['ec'],
    common: { tls_params: { tls_minimum_protocol_version: 'TLSv1_3' } },
  },
  'one-cipher': {
    certificates: ['ec', 'rsa'],
    common: { tls_params: { cipher_suites: ['ECDHE-RSA-AES256-GCM-SHA384'] } },
  },
  'clients-cipher': { certificates: ['ec'], context: { prefer_client_ciphers: true } },
  'P-384': { certificates: ['ec'], common: { tls_params: { ecdh_curves: ['P-384'] } } },
  optional: { certificates: ['ec'], trusts: 'ca' },
  required: { certificates: ['ec'], trusts: 'ca', context: { require_client_certificate: true } },
  unchecked: { certificates: ['ec'], context: { require_client_certificate: true } },
  keys: {
    certificates: ['ec'],
    context: { session_ticket_keys: { keys: [{ inline_bytes: keyLog('k') }] } },
  },
  'no-tickets': { certificates: ['ec'], context: { disable_stateless_session_resumption: true } },
  'no-cache': { certificates: ['ec'], context: { disable_stateful_session_resumption: true } },
  'no-sessions': {
    certificates: ['ec'],
    context: {
      disable_stateless_session_resumption: true,
      disable_stateful_session_resumption: true,
    },
  },
};

/** How hosts are spoken with. */
export const CLUSTERS = {
  usual: {},
  'to-1.3': { common: { tls_params: { tls_maximum_protocol_version: 'TLSv1_3' } } },
  'only-1.3': {
    common: {
      tls_params: {
        tls_minimum_protocol_version: 'TLSv1_3',
        tls_maximum_protocol_version: 'TLSv1_3',
      },
    },
  },
  'one-cipher': { common: { tls_params: { cipher_suites: ['ECDHE-ECDSA-AES256-GCM-SHA384'] } } },
  trusting: { trusts: 'ca' },
  mistrusting: { trusts: 'other' },
  known: { certificates: ['client'], trusts: 'ca' },
  stranger: { certificates: ['stranger'] },
};

/** The hosts: `openssl s_server` with these options. */
export const HOSTS = {
  ec: ['-cert', 'ec.crt', '-key', 'ec.key'],
  rsa: ['-cert', 'rsa.crt', '-key', 'rsa.key'],
  'only-1.2': ['-cert', 'ec.crt', '-key', 'ec.key', '-tls1_2'],
  'only-1.3': ['-cert', 'ec.crt', '-key', 'ec.key', '-tls1_3'],
  asking: [
    ...['-cert', 'ec.crt', '-key', 'ec.key', '-Verify', '1', '-CAfile', 'ca.crt'],
    '-verify_return_error',
  ],
};

const pair = (directory) => (name) => ({
  certificate_chain: { filename: join(directory, `${name}.crt`) },
  private_key: { filename: join(directory, `${name}.key`) },
});

function context(directory, side, { certificates = [], trusts, common, context: more }) {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': `${TLS}.${side}TlsContext`,
      ...(side === 'Upstream' && { sni: 'server.test' }),
      ...more,
      common_tls_context: {
        tls_certificates: certificates.map(pair(directory)),
        ...(trusts && {
          validation_context: { trusted_ca: { filename: join(directory, `${trusts}.crt`) } },
        }),
        ...common,
      },
    },
  };
}

function chain(routes, socket) {
  return {
    filters: [
      {
        name: 'envoy.filters.network.http_connection_manager',
        typed_config: {
          '@type': `${FILTERS}.network.http_connection_manager.v3.HttpConnectionManager`,
          stat_prefix: 'matrix',
          // Clients wait for its end.
          delayed_close_timeout: '0.02s',
          route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
          http_filters: [
            {
              name: 'envoy.filters.http.router',
              typed_config: { '@type': `${FILTERS}.http.router.v3.Router` },
            },
          ],
        },
      },
    ],
    ...(socket && { transport_socket: socket }),
  };
}

const at = (port) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

/** `ports`: of listeners, of hosts, `plain` and `admin`. */
export function bootstrapOf(directory, ports) {
  const hello = {
    match: { prefix: '/' },
    direct_response: { status: 200, body: { inline_string: 'hello' } },
  };
  const listeners = Object.entries(LISTENERS).map(([name, profile]) => ({
    name,
    address: at(ports.listeners[name]),
    filter_chains: [chain([hello], context(directory, 'Downstream', profile))],
  }));
  const tells = (key, value) => ({ header: { key, value } });
  const combined = Object.keys(CLUSTERS).flatMap((cluster) =>
    Object.keys(HOSTS).map((host) => ({ cluster, host, name: `${cluster}-${host}` })),
  );
  const routes = combined.map(({ name }) => ({
    match: { path: `/${name}` },
    route: { cluster: name, prefix_rewrite: '/' },
    response_headers_to_add: [
      tells('x-version', '%UPSTREAM_TLS_VERSION%'),
      tells('x-cipher', '%UPSTREAM_TLS_CIPHER%'),
      tells('x-flags', '%RESPONSE_FLAGS%'),
    ],
  }));
  const clusters = combined.map(({ name, cluster, host }) => ({
    name,
    connect_timeout: '2s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: at(ports.hosts[host]) } }] }],
    },
    transport_socket: context(directory, 'Upstream', CLUSTERS[cluster]),
  }));
  const plain = { name: 'plain', address: at(ports.plain), filter_chains: [chain(routes)] };
  return {
    admin: { address: at(ports.admin) },
    static_resources: { listeners: [...listeners, plain], clusters },
  };
}

// gRPC services of the control plane: how they are reached, and what is counted there.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ServerCredentials } from '@grpc/grpc-js';
import { HTTP2, address, says, webBootstrap } from './support/bootstraps.js';
import {
  AUTHORITY,
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from './support/certificates.js';
import { MetricsServer } from './support/metrics-server.js';
import { startProxy } from './support/start-proxy.js';
import { until } from './support/waits.js';
import { stat } from './support/stats.js';

const TYPE = 'type.googleapis.com/envoy';

/** A cluster "metrics" that speaks HTTP/2. */
function metricsCluster(ports: readonly number[], fields: object = {}): object {
  const lb_endpoints = ports.map((port) => ({ endpoint: { address: address(port) } }));
  return {
    name: 'metrics',
    type: 'STATIC',
    ...HTTP2,
    load_assignment: { cluster_name: 'metrics', endpoints: [{ lb_endpoints }] },
    ...fields,
  };
}

const ENVOY_GRPC = { envoy_grpc: { cluster_name: 'metrics' } };

/** A web server that sends statistics ten times a second. */
function bootstrapOf(service: object, clusters: readonly object[], routes = [says('/', 'yes')]) {
  const web = webBootstrap(routes) as { readonly static_resources: object };
  return {
    ...web,
    static_resources: { ...web.static_resources, clusters },
    node: { id: 'the-node', cluster: 'the-cluster' },
    stats_flush_interval: '0.1s',
    stats_sinks: [
      {
        name: 'envoy.stat_sinks.metrics_service',
        typed_config: {
          '@type': `${TYPE}.config.metrics.v3.MetricsServiceConfig`,
          transport_api_version: 'V3',
          grpc_service: service,
        },
      },
    ],
  };
}

/** `sni`: '' sends no name. */
function tlsSocket(common: object, sni = 'server.test'): object {
  const type = `${TYPE}.extensions.transport_sockets.tls.v3.UpstreamTlsContext`;
  return {
    transport_socket: {
      name: 'envoy.transport_sockets.tls',
      typed_config: { '@type': type, sni, common_tls_context: common },
    },
  };
}

const page = async (adminUrl: string, path: string): Promise<string> =>
  (await fetch(`${adminUrl}/${path}`)).text();

function serverTls(clients: Buffer | null): ServerCredentials {
  const pair = {
    cert_chain: Buffer.from(SERVER_CERTIFICATE),
    private_key: Buffer.from(SERVER_KEY),
  };
  return ServerCredentials.createSsl(clients, [pair], clients !== null);
}

async function deadPort(t: TestContext): Promise<number> {
  const server = await MetricsServer.start(t);
  server.stop();
  return server.port;
}

test('a cluster that speaks HTTP/2 is what the stream goes to, and what it is counted on', async (t) => {
  const server = await MetricsServer.start(t);
  const proxy = await startProxy(
    t,
    bootstrapOf(
      {
        envoy_grpc: { cluster_name: 'metrics', authority: 'metrics.example' },
        initial_metadata: [{ key: 'x-token', value: '%HOSTNAME%' }],
      },
      [metricsCluster([server.port])],
    ),
  );
  await until(() => (server.streams[0]?.messages.length ?? 0) >= 2, 'two messages');
  const [stream] = server.streams;
  assert.equal(stream?.authority, 'metrics.example');
  // As the real server sends it: only requests of clients give formats a value.
  assert.deepEqual(stream?.metadata.get('x-token'), ['%HOSTNAME%']);
  assert.deepEqual(stream?.metadata.get('x-envoy-internal'), ['true']);
  const first = stream?.messages[0]?.toString('latin1') ?? '';
  assert.ok(first.includes('the-node') && first.includes('envoy.stat_sinks.metrics_service'));
  assert.ok(!stream?.messages[1]?.toString('latin1').includes('the-node'));

  const stats = await page(proxy.adminUrl, 'stats?filter=cluster.metrics');
  for (const line of [
    'upstream_cx_total: 1',
    'upstream_cx_http2_total: 1',
    'upstream_cx_active: 1',
    'upstream_rq_total: 1',
    'upstream_rq_active: 1',
    'upstream_rq_pending_total: 1',
    'upstream_rq_pending_active: 0',
    'http2.streams_active: 1',
  ]) {
    assert.ok(stats.includes(`cluster.metrics.${line}\n`), line);
  }
  assert.match(stats, /upstream_cx_tx_bytes_total: [1-9]/);
  const hosts = await page(proxy.adminUrl, 'clusters');
  assert.ok(hosts.includes(`metrics::127.0.0.1:${server.port}::rq_active::1\n`), hosts);

  await proxy.command.end();
  assert.ok(stream?.isEnded);
  assert.equal(server.streams.length, 1);
});

test('the next flush asks the next host: one that is away loses a flush, not the rest', async (t) => {
  const away = await deadPort(t);
  const server = await MetricsServer.start(t);
  const proxy = await startProxy(
    t,
    bootstrapOf(ENVOY_GRPC, [metricsCluster([away, away, server.port])]),
  );
  await until(() => server.messageCount >= 2, 'two messages');
  const failed = await stat(proxy, 'cluster.metrics.upstream_cx_connect_fail');
  const answered = await page(proxy.adminUrl, 'stats?filter=metrics.internal.upstream_rq_503');
  assert.equal(
    answered,
    failed === 0 ? '' : `cluster.metrics.internal.upstream_rq_503: ${failed}\n`,
  );
  assert.equal(await stat(proxy, 'cluster.metrics.upstream_cx_active'), 1);
});

test('a server that ends and comes back gets a new stream that begins with the node', async (t) => {
  const first = await MetricsServer.start(t);
  const proxy = await startProxy(t, bootstrapOf(ENVOY_GRPC, [metricsCluster([first.port])]));
  await until(() => first.messageCount >= 1, 'a message');
  first.stop();
  await proxy.command.says(/metrics service: UNAVAILABLE: .*lost until it is back/);
  const second = await MetricsServer.start(t, ServerCredentials.createInsecure(), first.port);
  await proxy.command.says(/metrics service: is back/);
  assert.ok(second.streams[0]?.messages[0]?.toString('latin1').includes('the-node'));
  assert.equal(await stat(proxy, 'cluster.metrics.upstream_cx_destroy_remote_with_active_rq'), 1);
  assert.equal(await stat(proxy, 'cluster.metrics.upstream_rq_active'), 1);
});

test('a retry opens a stream anew before the flush is lost', async (t) => {
  const away = await deadPort(t);
  const server = await MetricsServer.start(t);
  const proxy = await startProxy(t, {
    ...bootstrapOf(
      {
        ...ENVOY_GRPC,
        retry_policy: {
          retry_on: 'connect-failure',
          num_retries: 50,
          retry_back_off: { base_interval: '0.001s' },
        },
      },
      [metricsCluster([away, away, server.port])],
    ),
    stats_flush_interval: '1s',
  });
  await until(() => server.messageCount >= 1, 'a message');
  const cluster = 'cluster.metrics.';
  assert.equal(
    await stat(proxy, `${cluster}upstream_rq_retry`),
    await stat(proxy, `${cluster}upstream_cx_connect_fail`),
  );
});

test('TLS with a certificate of the client’s reaches a server that the authority vouches for', async (t) => {
  const server = await MetricsServer.start(t, serverTls(Buffer.from(AUTHORITY)));
  const common = {
    tls_certificates: [
      {
        certificate_chain: { inline_string: CLIENT_CERTIFICATE },
        private_key: { inline_string: CLIENT_KEY },
      },
    ],
    validation_context: {
      trusted_ca: { inline_string: AUTHORITY },
      match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { exact: 'server.test' } }],
    },
  };
  const proxy = await startProxy(
    t,
    bootstrapOf(ENVOY_GRPC, [metricsCluster([server.port], tlsSocket(common))]),
  );
  await until(() => server.messageCount >= 2, 'two messages');
  assert.equal(await stat(proxy, 'cluster.metrics.ssl.handshake'), 1);
  const dump = await page(proxy.adminUrl, 'config_dump');
  assert.ok(!dump.includes(CLIENT_KEY.split('\n')[1] ?? ''), 'the key is redacted');
});

for (const sni of ['', 'other.test']) {
  test(`a server that is asked for as '${sni}' is reached: no names are to be checked`, async (t) => {
    const server = await MetricsServer.start(t, serverTls(null));
    const common = { validation_context: { trusted_ca: { inline_string: AUTHORITY } } };
    const proxy = await startProxy(
      t,
      bootstrapOf(ENVOY_GRPC, [metricsCluster([server.port], tlsSocket(common, sni))]),
    );
    await until(() => server.messageCount >= 2, 'two messages');
    assert.equal(await stat(proxy, 'cluster.metrics.ssl.fail_verify_error'), 0);
  });
}

const REFUSED = [
  {
    what: 'an authority that nobody knows',
    validation: { trusted_ca: { inline_string: CLIENT_CERTIFICATE } },
    says: /certificate is not trusted/,
    counts: 'fail_verify_error',
  },
  {
    what: 'a name that is not the server’s',
    validation: {
      trusted_ca: { inline_string: AUTHORITY },
      match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { suffix: '.example' } }],
    },
    says: /certificate is for DNS:server\.test, none of which is wanted/,
    counts: 'fail_verify_san',
  },
  {
    what: 'a certificate that is another',
    validation: { verify_certificate_hash: ['ab'.repeat(32)] },
    says: /certificate is not one of those wanted/,
    counts: 'fail_verify_cert_hash',
  },
] as const;

for (const { what, validation, says: words, counts } of REFUSED) {
  test(`${what} keeps statistics from being sent`, async (t) => {
    const server = await MetricsServer.start(t, serverTls(null));
    const cluster = metricsCluster([server.port], tlsSocket({ validation_context: validation }));
    const proxy = await startProxy(t, bootstrapOf(ENVOY_GRPC, [cluster]));
    await proxy.command.says(words);
    await until(async () => (await stat(proxy, `cluster.metrics.ssl.${counts}`)) >= 3, counts);
    assert.equal(server.streams.length, 0);
  });
}

test('google_grpc reaches its target by itself, and is counted by its prefix', async (t) => {
  const server = await MetricsServer.start(t, serverTls(null));
  const proxy = await startProxy(
    t,
    bootstrapOf(
      {
        google_grpc: {
          target_uri: `127.0.0.1:${server.port}`,
          stat_prefix: 'collector',
          channel_credentials: { ssl_credentials: { root_certs: { inline_string: AUTHORITY } } },
          call_credentials: [{ access_token: 'secret' }],
          channel_args: {
            args: { 'grpc.ssl_target_name_override': { string_value: 'server.test' } },
          },
        },
      },
      [],
    ),
  );
  await until(() => server.messageCount >= 2, 'two messages');
  assert.deepEqual(server.streams[0]?.metadata.get('authorization'), ['Bearer secret']);
  const stats = await page(proxy.adminUrl, 'stats?filter=grpc.collector');
  assert.match(stats, /^grpc\.collector\.google_grpc_client_creation: 1\n/);
  assert.match(stats, /\ngrpc\.collector\.streams_total: 1\n$/);
  const metrics = await page(proxy.adminUrl, 'stats/prometheus?filter=grpc.collector');
  assert.match(
    metrics,
    /envoy_grpc_streams_total\{envoy_google_grpc_client_prefix="collector"\} 1/,
  );
});

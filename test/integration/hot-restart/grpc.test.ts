// gRPC streams of the processes of a hot restart: each has its own, and ends it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, says, webBootstrap } from '../support/bootstraps.js';
import { MetricsServer } from '../support/metrics-server.js';
import { Epochs } from './epochs.js';
import { until } from '../support/waits.js';

test('the stream of a process ends when its successor reports, whose own goes on', async (t) => {
  const server = await MetricsServer.start(t);
  const web = webBootstrap([says('/', 'here')]) as { readonly static_resources: object };
  const epochs = new Epochs(
    t,
    {
      ...web,
      static_resources: {
        ...web.static_resources,
        clusters: [{ ...cluster('metrics', server.port), http2_protocol_options: {} }],
      },
      stats_flush_interval: '0.1s',
      stats_sinks: [
        {
          name: 'envoy.stat_sinks.metrics_service',
          typed_config: {
            '@type': 'type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig',
            grpc_service: { envoy_grpc: { cluster_name: 'metrics' } },
          },
        },
      ],
    },
    ...['--drain-time-s', '600', '--parent-shutdown-time-s', '900', '-l', 'warning'],
  );
  await epochs.start(0);
  await until(() => (server.streams[0]?.messages.length ?? 0) >= 2);
  await epochs.start(1);
  await until(() => server.streams[0]?.isEnded === true);
  await until(() => (server.streams[1]?.messages.length ?? 0) >= 3);
  assert.equal(server.streams.length, 2);
  assert.equal(server.streams[1]?.isEnded, false);
});

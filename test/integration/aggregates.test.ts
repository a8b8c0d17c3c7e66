// Aggregates of clusters: requests go to the first that is well.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { cluster, toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const CLUSTERS = 'type.googleapis.com/envoy.extensions.clusters';

interface Web {
  readonly static_resources: { readonly listeners: readonly object[] };
}

async function origin(t: TestContext, body: string): Promise<number> {
  const server = createServer((_, response) => response.end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function provided(name: string, extension: string, config: object): object {
  return {
    name,
    lb_policy: 'CLUSTER_PROVIDED',
    cluster_type: {
      name: `envoy.clusters.${extension}`,
      typed_config: { '@type': `${CLUSTERS}.${extension}.v3.ClusterConfig`, ...config },
    },
  };
}

test('an aggregate goes to its second cluster while the first has no host', async (t) => {
  const second = await origin(t, 'second');
  const web = webBootstrap([toCluster('/', 'all')]) as unknown as Web;
  const proxy = await startProxy(t, {
    ...web,
    static_resources: {
      ...web.static_resources,
      clusters: [
        { name: 'first', type: 'STATIC', load_assignment: { cluster_name: 'first' } },
        cluster('second', second),
        provided('all', 'aggregate', { clusters: ['first', 'second'] }),
      ],
    },
  });
  const answer = await fetch(await proxy.listenerUrl('web'));
  assert.equal(await answer.text(), 'second');
});

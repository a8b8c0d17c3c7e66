// Requests that are tried again, as an operator configures and watches them.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { cluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const PREVIOUS = {
  name: 'envoy.retry_host_predicates.previous_hosts',
  typed_config: {
    '@type':
      'type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
  },
};

test('a request that one host fails is answered by the other, body and all', async (t) => {
  const bodies: string[] = [];
  const listen = async (status: number): Promise<number> => {
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(status).end(`${status}`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    return (server.address() as AddressInfo).port;
  };
  const [bad, good] = [await listen(503), await listen(200)];
  const route = {
    match: { prefix: '/' },
    route: {
      cluster: 'both',
      retry_policy: {
        retry_on: '5xx',
        num_retries: 3,
        retry_back_off: { base_interval: '0.001s' },
        retry_host_predicate: [PREVIOUS],
        host_selection_retry_max_attempts: 5,
      },
    },
  };
  const bootstrap = structuredClone(webBootstrap([route], { both: bad })) as unknown as {
    static_resources: { clusters: object[] };
  };
  const both = structuredClone(cluster('both', bad)) as unknown as {
    load_assignment: { endpoints: { lb_endpoints: object[] }[] };
  };
  both.load_assignment.endpoints[0]?.lb_endpoints.push({
    endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: good } } },
  });
  bootstrap.static_resources.clusters = [both];
  const proxy = await startProxy(t, bootstrap);
  const url = await proxy.listenerUrl('web');
  for (let i = 0; i < 4; i += 1) {
    const response = await fetch(url, { method: 'POST', body: `body ${i}` });
    assert.equal(response.status, 200);
    assert.equal(await response.text(), '200');
  }
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=upstream_rq_retry`)).text();
  const retries = Number(/upstream_rq_retry: (\d+)/.exec(stats)?.[1]);
  assert.ok(retries > 0, stats);
  assert.match(stats, new RegExp(`upstream_rq_retry_success: ${retries}\n`));
  // Every body came as often as its request was sent.
  assert.equal(bodies.length, 4 + retries);
  for (const body of bodies) assert.match(body, /^body [0-3]$/);
});

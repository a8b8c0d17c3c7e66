// Tokens whose keys are fetched, and sessions that stay with their hosts.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const SECRET = 'a secret of thirty-two bytes, ok';

interface Manager {
  http_filters: object[];
}

/** The bootstrap with these filters before its router. */
function withFilters(bootstrap: ReturnType<typeof webBootstrap>, filters: object[]): object {
  const copy = structuredClone(bootstrap) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[];
    };
  };
  const manager = copy.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  assert.ok(manager);
  manager.http_filters = [...filters, ...manager.http_filters];
  return copy;
}

/** Answers with the body, and counts. */
async function origin(
  t: TestContext,
  body: () => string,
): Promise<{ port: number; count: () => number }> {
  let count = 0;
  const server = createServer((_, answer) => {
    count += 1;
    answer.end(body());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, count: () => count };
}

function token(payload: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256', kid: 'k' })}.${part(payload)}`;
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

test('jwt_authn waits for keys that it has to fetch, fetches them once, and tells who it is', async (t) => {
  const keys = await origin(t, () =>
    JSON.stringify({
      keys: [{ kty: 'oct', kid: 'k', k: Buffer.from(SECRET).toString('base64url') }],
    }),
  );
  const host = await origin(t, () => 'in');
  const filter = {
    name: 'jwt',
    typed_config: {
      '@type': `${TYPE}.jwt_authn.v3.JwtAuthentication`,
      providers: {
        one: {
          issuer: 'one',
          remote_jwks: { http_uri: { uri: 'http://keys.test/', cluster: 'keys', timeout: '5s' } },
        },
      },
      rules: [{ match: { prefix: '/' }, requires: { provider_name: 'one' } }],
    },
  };
  const bootstrap = webBootstrap([toCluster('/', 'host')], { host: host.port, keys: keys.port });
  const proxy = await startProxy(t, withFilters(bootstrap, [filter]));
  const url = await proxy.listenerUrl('web');
  const ask = async (text: string): Promise<[number, string]> => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${text}` } });
    return [answer.status, await answer.text()];
  };
  const good = token({ iss: 'one' });
  assert.deepEqual(await Promise.all([ask(good), ask(good)]), [
    [200, 'in'],
    [200, 'in'],
  ]);
  assert.deepEqual(await ask(`${good.slice(0, -4)}AAAA`), [401, 'Jwt verification fails']);
  assert.deepEqual(await ask(token({ iss: 'two' })), [401, 'Jwt issuer is not configured']);
  assert.equal((await fetch(url)).status, 401);
  assert.equal(keys.count(), 1);
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=jwt_authn`)).text();
  assert.match(stats, /^http\.web\.jwt_authn\.jwks_fetch_success: 1$/m);
  assert.match(stats, /^http\.web\.jwt_authn\.allowed: 2$/m);
});

test('jwt_authn says so where keys cannot be fetched', async (t) => {
  const keys = await origin(t, () => 'no keys');
  const host = await origin(t, () => 'in');
  const filter = {
    name: 'jwt',
    typed_config: {
      '@type': `${TYPE}.jwt_authn.v3.JwtAuthentication`,
      providers: {
        one: {
          remote_jwks: { http_uri: { uri: 'http://keys.test/', cluster: 'keys', timeout: '5s' } },
        },
      },
      rules: [{ match: { prefix: '/' }, requires: { provider_name: 'one' } }],
    },
  };
  const bootstrap = webBootstrap([toCluster('/', 'host')], { host: host.port, keys: keys.port });
  const proxy = await startProxy(t, withFilters(bootstrap, [filter]));
  const headers = { authorization: `Bearer ${token({})}` };
  const answer = await fetch(await proxy.listenerUrl('web'), { headers });
  assert.deepEqual([answer.status, await answer.text()], [401, 'Jwks remote fetch is failed']);
  assert.equal(host.count(), 0);
});

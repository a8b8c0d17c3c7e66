// Logins by OAuth, as a browser would see them, and tokens that hosts get.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_ONLY, cluster, toCluster, webBootstrap, webRoutes } from './support/bootstraps.js';
import { listenerResource, managerFilter } from './support/listeners.js';
import { fileSource, putResources } from './support/resources.js';
import { makeFolder, startProxy } from './support/start-proxy.js';
import { statText, untilStat } from './support/stats.js';
import { freePort, until } from './support/waits.js';

const ANY = 'type.googleapis.com/envoy.extensions';

interface Bootstrap {
  static_resources: {
    listeners: { filter_chains: { filters: { typed_config: { http_filters: object[] } }[] }[] }[];
    secrets?: object[];
  };
}

async function serve(t: TestContext, answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** The URL of a proxy with this filter: its host answers with the headers that it has had. */
async function startWith(t: TestContext, filter: object, tokens: () => object): Promise<string> {
  const host = await serve(t, (request, response) => {
    response.end(JSON.stringify(request.headers));
  });
  const idp = await serve(t, (request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(tokens())));
  });
  const routes = [toCluster('/', 'host')];
  const bootstrap = structuredClone(webBootstrap(routes, { host, idp })) as unknown as Bootstrap;
  const manager = bootstrap.static_resources.listeners[0]?.filter_chains[0]?.filters[0];
  manager?.typed_config.http_filters.unshift({ name: 'own', typed_config: filter });
  bootstrap.static_resources.secrets = ['token', 'hmac'].map((name) => ({
    name,
    generic_secret: { secret: { inline_string: `${name} hush` } },
  }));
  return (await startProxy(t, bootstrap)).listenerUrl('web');
}

const endpoint = { cluster: 'idp', uri: 'http://idp.test/token', timeout: '5s' };

/** What a browser would keep. */
function keep(jar: Map<string, string>, answer: Response): void {
  for (const line of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === 'deleted') jar.delete(name);
    else jar.set(name, value);
  }
}

const cookieOf = (jar: ReadonlyMap<string, string>): string =>
  [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

test('oauth2: a client logs in, comes back to its page, is known from then on, and logs out', async (t) => {
  const url = await startWith(
    t,
    {
      '@type': `${ANY}.filters.http.oauth2.v3.OAuth2`,
      config: {
        token_endpoint: endpoint,
        authorization_endpoint: 'https://idp.test/login',
        redirect_uri: 'http://%REQ(:authority)%/callback',
        redirect_path_matcher: { path: { exact: '/callback' } },
        signout_path: { path: { exact: '/signout' } },
        credentials: {
          client_id: 'kit',
          token_secret: { name: 'token' },
          hmac_secret: { name: 'hmac' },
        },
        forward_bearer_token: true,
      },
    },
    () => ({ access_token: 'acc', refresh_token: 'ref', expires_in: 60 }),
  );
  const jar = new Map<string, string>();
  const ask = async (path: string): Promise<Response> => {
    const answer = await fetch(url + path, {
      redirect: 'manual',
      headers: { cookie: cookieOf(jar) },
    });
    keep(jar, answer);
    return answer;
  };
  const sent = await ask('/page?x=1');
  assert.equal(sent.status, 302);
  const login = new URL(sent.headers.get('location') ?? '');
  assert.equal(login.origin, 'https://idp.test');
  assert.equal(login.searchParams.get('code_challenge_method'), 'S256');
  const state = login.searchParams.get('state') ?? '';
  const back = await ask(`/callback?code=c&state=${state}`);
  assert.equal(back.headers.get('location'), `${url}/page?x=1`);
  assert.deepEqual([...jar.keys()].sort(), [
    'BearerToken',
    'OauthExpires',
    'OauthHMAC',
    'RefreshToken',
  ]);
  const seen = (await (await ask('/page?x=1')).json()) as IncomingHttpHeaders;
  assert.equal(seen.authorization, 'Bearer acc');
  assert.equal(seen.cookie, 'BearerToken=acc');
  await ask('/signout');
  assert.equal(jar.size, 0);
  assert.equal((await ask('/page')).status, 302);
});

const injected = (typed_config: object, more: object = {}): object => ({
  '@type': `${ANY}.filters.http.credential_injector.v3.CredentialInjector`,
  credential: { name: 'token', typed_config },
  ...more,
});

const TOKENS = injected({
  '@type': `${ANY}.http.injected_credentials.oauth2.v3.OAuth2`,
  token_endpoint: endpoint,
  client_credentials: { client_id: 'kit', client_secret: { name: 'token' } },
});

test('credential_injector: hosts get a token that the proxy has fetched', async (t) => {
  const url = await startWith(t, TOKENS, () => ({ access_token: 'fetched', expires_in: 60 }));
  const seen = (await (await fetch(url)).json()) as IncomingHttpHeaders;
  assert.equal(seen.authorization, 'Bearer fetched');
});

/** It waits, for a while, for a secret that never comes. */
const SLOW = injected(
  {
    '@type': `${ANY}.http.injected_credentials.generic.v3.Generic`,
    header: 'x-other',
    credential: {
      name: 'never',
      sds_config: {
        resource_api_version: 'V3',
        initial_fetch_timeout: '1.5s',
        api_config_source: {
          api_type: 'GRPC',
          transport_api_version: 'V3',
          grpc_services: [{ envoy_grpc: { cluster_name: 'host' } }],
        },
      },
    },
  },
  { allow_request_without_credential: true },
);

test('a listener that waits gets the token that came meanwhile; none is fetched once it has gone', async (t) => {
  const host = await serve(t, (request, response) => {
    response.end(JSON.stringify(request.headers));
  });
  let fetched = 0;
  const idp = await serve(t, (request, response) => {
    fetched += 1;
    request.resume().on('end', () => {
      // The first lasts longer than the listener waits; others are to be renewed at once.
      const expires_in = fetched === 1 ? 6 : 0;
      response.end(JSON.stringify({ access_token: `${fetched}`, expires_in }));
    });
  });
  const [lds, port] = [join(makeFolder(t), 'lds.json'), await freePort()];
  const manager = managerFilter('later', { route_config: webRoutes([toCluster('/', 'host')]) });
  const { http_filters: filters } = manager.typed_config as { http_filters: object[] };
  filters.unshift({ name: 'a', typed_config: TOKENS }, { name: 'b', typed_config: SLOW });
  putResources(lds, '1', []);
  const proxy = await startProxy(
    t,
    {
      ...ADMIN_ONLY,
      node: { id: 'test', cluster: 'test' },
      dynamic_resources: { lds_config: fileSource(lds) },
      static_resources: {
        clusters: [cluster('host', host), cluster('idp', idp)],
        secrets: [{ name: 'token', generic_secret: { secret: { inline_string: 'hush' } } }],
      },
    },
    ...['--drain-time-s', '1'],
  );
  putResources(lds, '2', [listenerResource('later', port, [{ filters: [manager] }])]);
  await until(() => Promise.resolve(fetched > 0));
  assert.equal(await statText(proxy, 'listener_manager.total_listeners_warming'), '1');
  await untilStat(proxy, 'listener_manager.total_listeners_warming', 0);
  await until(async () => (await fetch(`http://127.0.0.1:${port}`)).status === 200);
  const seen = (await (await fetch(`http://127.0.0.1:${port}`)).json()) as IncomingHttpHeaders;
  assert.equal(seen.authorization, 'Bearer 1');
  await until(() => Promise.resolve(fetched > 2));
  putResources(lds, '3', []);
  await untilStat(proxy, 'listener_manager.listener_removed', 1);
  await untilStat(proxy, 'listener_manager.total_listeners_draining', 0);
  // One may be on its way.
  await sleep(200);
  const all = fetched;
  await sleep(500);
  assert.equal(fetched, all);
});

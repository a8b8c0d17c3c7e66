// Logins by OAuth, as a browser would see them, and tokens that hosts get.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

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

test('credential_injector: hosts get a token that the proxy has fetched', async (t) => {
  const url = await startWith(
    t,
    {
      '@type': `${ANY}.filters.http.credential_injector.v3.CredentialInjector`,
      credential: {
        name: 'token',
        typed_config: {
          '@type': `${ANY}.http.injected_credentials.oauth2.v3.OAuth2`,
          token_endpoint: endpoint,
          client_credentials: { client_id: 'kit', client_secret: { name: 'token' } },
        },
      },
    },
    () => ({ access_token: 'fetched', expires_in: 60 }),
  );
  const seen = (await (await fetch(url)).json()) as IncomingHttpHeaders;
  assert.equal(seen.authorization, 'Bearer fetched');
});

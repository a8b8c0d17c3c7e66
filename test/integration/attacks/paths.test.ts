// Spellings of a path that rules read otherwise than origins do.
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { FILTER, startOrigin, startBefore, get } from './setting.js';

/** What servers that are careless make of a path. */
function understood(path: string): string {
  let text = path.split(/[?#]/)[0] ?? '';
  for (let i = 0; i < 3; ++i)
    text = text.replace(/%(2e|2f|5c|61)/gi, (code) => decodeURIComponent(code));
  const plain = text.replaceAll('\\', '/').replace(/;[^/]*/g, '');
  return posix.normalize(plain).replace(/^\/+/, '/');
}

const PATHS = [
  '/admin',
  '/admin/',
  '/admin?a',
  '/admin/x',
  '/admin;a=b',
  '/%61dmin',
  '/./admin',
  '/x/../admin',
  '/x/%2e%2e/admin',
  '/x/.%2E/admin',
  '//admin',
  '///admin',
  '/x//../admin',
  '/%2fadmin',
  '/x%2f..%2fadmin',
  '/x/..%2fadmin',
  '/x\\..\\admin',
  '/x/..\\admin',
  '/\\admin',
  '/%5cadmin',
  '/x%5c..%5cadmin',
  '/%2e/admin',
  '/%2E%2E/admin',
  '/x/%2e./%2e/admin',
  '/x%2F%2E%2E%2Fadmin',
  '/;a/../admin',
  '/admin%2fx',
  'http://good.test/admin',
  'http://good.test//x/../admin',
];
const CAREFUL = {
  normalize_path: true,
  merge_slashes: true,
  path_with_escaped_slashes_action: 'UNESCAPE_AND_FORWARD',
};

test('no spelling of a path gets past a rule of rbac, as its origin would read it', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const rules = {
    action: 'DENY',
    policies: {
      admin: {
        permissions: [{ url_path: { path: { prefix: '/admin' } } }],
        principals: [{ any: true }],
      },
    },
  };
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    manager: CAREFUL,
    filters: [{ name: 'rbac', typed_config: { '@type': `${FILTER}.rbac.v3.RBAC`, rules } }],
  });
  for (const path of PATHS) {
    const { status } = await send(get(path));
    assert.ok([200, 307, 400, 403].includes(status), `${path}: ${status}`);
  }
  const reached = origin.asked
    .map(({ path }) => path)
    .filter((path) => understood(path).startsWith('/admin'));
  assert.deepEqual(reached, []);
  assert.equal((await send(get('/public'))).status, 200);
});

test('an authorization service is asked of the path that its origin is asked for', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const service = await startOrigin(t, ({ path }) => ({
    status: understood(path).startsWith('/admin') ? 403 : 200,
  }));
  const send = await startBefore(t, {
    origins: { origin: origin.port, service: service.port },
    manager: CAREFUL,
    filters: [
      {
        name: 'ext_authz',
        typed_config: {
          '@type': `${FILTER}.ext_authz.v3.ExtAuthz`,
          transport_api_version: 'V3',
          http_service: {
            server_uri: { uri: 'http://service', cluster: 'service', timeout: '10s' },
          },
        },
      },
    ],
  });
  for (const path of [...PATHS, '/public', '/x/../public']) await send(get(path));
  const allowed = service.asked
    .map(({ path }) => path)
    .filter((path) => !understood(path).startsWith('/admin'));
  for (const { path } of origin.asked) assert.ok(allowed.includes(path), path);
  assert.ok(origin.asked.some(({ path }) => path === '/public'));
});

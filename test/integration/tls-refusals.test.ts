// What clients are told whose certificates a listener does not take, and how long they may resume.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type ConnectionOptions } from 'node:tls';
import { says, webBootstrap } from './support/bootstraps.js';
import {
  AUTHORITY,
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  EARLY_AUTHORITY,
  EARLY_CERTIFICATE,
  EARLY_KEY,
} from './support/certificates.js';
import { downstream, secureWeb, text, TRUST, type Fields } from './support/secure-web.js';
import { listenerPort, startProxy } from './support/start-proxy.js';

async function startWeb(t: TestContext, common: Fields, fields: Fields): Promise<number> {
  const web = webBootstrap([says('/', 'hello')]);
  const proxy = await startProxy(t, secureWeb(web, downstream(common, fields)));
  return listenerPort(proxy.adminUrl, 'web');
}

/** The code of the error that ends a connection. */
async function refusal(port: number, options: ConnectionOptions): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  return error.code;
}

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

test('a certificate of another time is told of as one that has expired', async (t) => {
  const trusted_ca = text(EARLY_AUTHORITY);
  const port = await startWeb(
    t,
    { validation_context: { trusted_ca } },
    { require_client_certificate: true },
  );
  for (const maxVersion of VERSIONS) {
    const code = await refusal(port, { maxVersion, cert: EARLY_CERTIFICATE, key: EARLY_KEY });
    assert.equal(code, 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED');
  }
});

test('a certificate of another name is told of as unknown', async (t) => {
  const match_typed_subject_alt_names = [{ san_type: 'DNS', matcher: { exact: 'other.test' } }];
  const port = await startWeb(
    t,
    { validation_context: { ...TRUST, match_typed_subject_alt_names } },
    { require_client_certificate: true },
  );
  for (const maxVersion of VERSIONS) {
    const code = await refusal(port, { maxVersion, cert: CLIENT_CERTIFICATE, key: CLIENT_KEY });
    assert.equal(code, 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN');
  }
});

async function isResumed(port: number, maxVersion: (typeof VERSIONS)[number]): Promise<boolean> {
  const options = { port, host: '127.0.0.1', ca: AUTHORITY, servername: 'server.test', maxVersion };
  const first = connect(options);
  const got = once(first, 'session') as Promise<[Buffer]>;
  first.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const [session] = await got;
  first.destroy();
  // A session lasts for whole seconds.
  await sleep(2200);
  const second = connect({ ...options, session });
  await once(second, 'secureConnect');
  const is_reused = second.isSessionReused();
  second.destroy();
  return is_reused;
}

test('session_timeout is of TLS 1.2; sessions of TLS 1.3 last two days', async (t) => {
  const port = await startWeb(t, {}, { session_timeout: '1.9s' });
  const resumed = await Promise.all(VERSIONS.map((version) => isResumed(port, version)));
  assert.deepEqual(resumed, [false, true]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysUntil, firstExpiryMs } from '../../../../src/admin/handlers/certificates.js';
import type { TlsFiles } from '../../../../src/plan/tls-socket.js';
import { AUTHORITY, SERVER_CERTIFICATE } from '../../../integration/support/certificates.js';
import { AskedServer } from '../fake-host.js';

const CONTEXT: TlsFiles = {
  authorities: [{ pem: Buffer.from(AUTHORITY), path: '/etc/ca.pem' }],
  chains: [{ pem: Buffer.from(SERVER_CERTIFICATE), path: '<inline>' }],
};

interface Shown {
  readonly path: string;
  readonly serial_number: string;
  readonly subject_alt_names: readonly object[];
  readonly days_until_expiration: string;
  readonly expiration_time: string;
}

test('certificates are shown with where they are from, whom they are for and how long', () => {
  const asked = new AskedServer();
  asked.host.tlsContexts = [CONTEXT];
  const { certificates } = JSON.parse(asked.get('/certs').text) as {
    readonly certificates: readonly { readonly ca_cert: Shown[]; readonly cert_chain: Shown[] }[];
  };
  const [context] = certificates;
  assert.equal(context?.ca_cert[0]?.path, '/etc/ca.pem');
  assert.deepEqual(context.ca_cert[0].subject_alt_names, []);
  const [chain] = context.cert_chain;
  assert.equal(chain?.path, '<inline>');
  assert.deepEqual(chain.subject_alt_names, [{ dns: 'server.test' }]);
  assert.match(chain.serial_number, /^[0-9a-f]+$/);
  assert.match(chain.expiration_time, /^2126-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(chain.days_until_expiration, /^\d{5}$/);
});

test('of a certificate with an OCSP response it is told how long that is good', () => {
  const asked = new AskedServer();
  const ocsp = { validFromMs: 1_000, expirationMs: 86_400_000 };
  asked.host.tlsContexts = [
    { authorities: [], chains: [{ pem: Buffer.from(SERVER_CERTIFICATE), path: 'a', ocsp }] },
  ];
  const { certificates } = JSON.parse(asked.get('/certs').text) as {
    readonly certificates: readonly { readonly cert_chain: readonly Record<string, unknown>[] }[];
  };
  assert.deepEqual(certificates[0]?.cert_chain[0]?.['ocsp_details'], {
    valid_from: '1970-01-01T00:00:01Z',
    expiration: '1970-01-02T00:00:00Z',
  });
});

test('without TLS nothing is shown, and nothing expires', () => {
  assert.deepEqual(JSON.parse(new AskedServer().get('/certs').text), { certificates: [] });
  assert.equal(firstExpiryMs([]), undefined);
});

test('the first that expires counts, in whole days', () => {
  const first = firstExpiryMs([CONTEXT]) ?? 0;
  assert.equal(daysUntil(first, first - 86_400_000 * 2 + 1), 1);
  assert.equal(daysUntil(first, first + 5), 0);
});

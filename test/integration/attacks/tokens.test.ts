// Tokens that their issuer has not signed.
import assert from 'node:assert/strict';
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { FILTER, startOrigin, startBefore, get } from './setting.js';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const CLAIMS = { iss: 'issuer', sub: 'ann' };

function signed(header: object, sign: (text: string) => string): string {
  const text = `${part(header)}.${part(CLAIMS)}`;
  return `${text}.${sign(text)}`;
}
const rsa = (text: string): string =>
  createSign('sha256').update(text).sign(privateKey).toString('base64url');
const hmac = (secret: string | Buffer) => (text: string) =>
  createHmac('sha256', secret).update(text).digest('base64url');

test('a token that was not signed by the key of its issuer is none, whatever it says', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' };
  const pem = publicKey.export({ format: 'pem', type: 'spki' });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const theirs = (text: string): string =>
    createSign('sha256').update(text).sign(other.privateKey).toString('base64url');
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    filters: [
      {
        name: 'jwt',
        typed_config: {
          '@type': `${FILTER}.jwt_authn.v3.JwtAuthentication`,
          providers: {
            one: {
              issuer: 'issuer',
              local_jwks: { inline_string: JSON.stringify({ keys: [jwk] }) },
            },
          },
          rules: [{ match: { prefix: '/' }, requires: { provider_name: 'one' } }],
        },
      },
    ],
  });
  const good = signed({ alg: 'RS256', kid: 'one' }, rsa);
  const [head = '', , signature = ''] = good.split('.');
  const forged = {
    'no algorithm': signed({ alg: 'none' }, () => ''),
    'no algorithm, oddly spelled': signed({ alg: 'nOnE', kid: 'one' }, () => ''),
    'no signature': good.slice(0, good.lastIndexOf('.') + 1),
    'two parts': good.slice(0, good.lastIndexOf('.')),
    'the public key as a secret, as PEM': signed({ alg: 'HS256', kid: 'one' }, hmac(pem)),
    'the public key as a secret, as JWK': signed(
      { alg: 'HS256', kid: 'one' },
      hmac(Buffer.from(jwk.n ?? '', 'base64url')),
    ),
    'an empty secret': signed({ alg: 'HS256', kid: 'one' }, hmac('')),
    'a key of its own': signed(
      { alg: 'RS256', kid: 'one', jwk: other.publicKey.export({ format: 'jwk' }) },
      theirs,
    ),
    'an address of keys': signed({ alg: 'RS256', kid: 'one', jku: 'http://evil.test/' }, theirs),
    'a key id that is a path': signed({ alg: 'RS256', kid: '../../../../dev/null' }, theirs),
    'a key id that is SQL': signed({ alg: 'RS256', kid: "' or '1'='1" }, theirs),
    'a key id with a zero': signed({ alg: 'RS256', kid: 'one\u0000' }, theirs),
    'claims that were changed': `${head}.${part({ ...CLAIMS, sub: 'root' })}.${signature}`,
    'another issuer': `${head}.${part({ iss: 'other' })}.${signature}`,
    'a long token': `${good}${'A'.repeat(50_000)}`,
    'many dots': '.'.repeat(20_000),
    'deep JSON': `${Buffer.from('['.repeat(20_000)).toString('base64url')}.e30.AA`,
    'two algorithms': `${Buffer.from('{"alg":"RS256","kid":"one","alg":"none"}').toString('base64url')}.${part(CLAIMS)}.`,
    'an algorithm of another kind of keys': signed({ alg: 'ES256', kid: 'one' }, rsa),
    'another hash than that of the key': signed({ alg: 'RS512', kid: 'one' }, rsa),
    'a key id that is a list': signed({ alg: 'RS256', kid: ['one'] }, rsa),
    'a signature of nothing': `${head}.${part(CLAIMS)}.${'A'.repeat(342)}`,
  };
  for (const [name, token] of Object.entries(forged)) {
    assert.equal((await send(get('/', `authorization: Bearer ${token}`))).status, 401, name);
  }
  assert.equal((await send(get('/', `authorization: Bearer ${'A'.repeat(200_000)}`))).status, 431);
  assert.equal(origin.asked.length, 0);
  assert.equal((await send(get('/', `authorization: Bearer ${good}`))).status, 200);
});

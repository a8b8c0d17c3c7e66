// Keys of issuers (RFC 7517) become what the data plane verifies with, by Node's own crypto. What is wrong
// with them is told in the real server's words.
import { crypto } from '../../base/late-modules.js';
import type * as Crypto from 'node:crypto';
import { Jwk_Kind as Kind, type Jwk, type Jwks } from '../plan.gen.js';

type Members = Readonly<Record<string, unknown>>;

/** A text: what is wrong. */
export function compileJwks(json: string): Jwks | string {
  const document = parse(json);
  if (!isObject(document)) return 'Jwks is an invalid JSON';
  if (!('keys' in document)) {
    return isCertificates(document)
      ? compileAll(Object.entries(document), ([kid, pem]) => ofCertificate(kid, String(pem)))
      : 'Jwks does not have [keys] field';
  }
  if (!Array.isArray(document.keys)) return '[keys] in Jwks is not an array';
  const keys: Jwk[] = [];
  let first: string | undefined;
  for (const one of document.keys as unknown[]) {
    if (!isObject(one)) continue;
    const key = compileJwk(one);
    if (typeof key === 'string') first ??= key;
    else keys.push(key);
  }
  return keys.length > 0 ? { keys } : (first ?? "Jwks doesn't have any valid public key");
}

function compileAll<T>(items: readonly T[], compile: (item: T) => Jwk | string): Jwks | string {
  const keys: Jwk[] = [];
  for (const item of items) {
    const key = compile(item);
    if (typeof key === 'string') return key;
    keys.push(key);
  }
  return { keys };
}

function compileJwk(jwk: Members): Jwk | string {
  if (jwk.kty === undefined) return '[kty] is missing in [keys]';
  if (typeof jwk.kty !== 'string') return '[kty] is bad in [keys]';
  const named = { kid: textOf(jwk.kid), alg: textOf(jwk.alg) };
  if (jwk.kty === 'EC') return ofCurve(jwk, named);
  if (jwk.kty === 'RSA') return ofRsa(jwk, named);
  if (jwk.kty === 'oct') return ofOctets(jwk, named);
  if (jwk.kty === 'OKP') return ofEdwards(jwk, named);
  return '[kty] is not supported in [keys]';
}

type Named = Required<Pick<Jwk, 'kid' | 'alg'>>;

function ofRsa(jwk: Members, named: Named): Jwk | string {
  const { alg } = named;
  if (alg !== '' && !/^[RP]S/.test(alg as string)) {
    return '[alg] is not started with [RS] or [PS] for an RSA key';
  }
  for (const name of ['n', 'e']) {
    if (jwk[name] === undefined) return `[${name}] field is missing for a RSA key`;
    if (typeof jwk[name] !== 'string') return `[${name}] field is not string for a RSA key`;
  }
  const wrong = 'Jwks RSA [n] or [e] field is missing or has a parse error';
  const e = bytesOf(jwk.e);
  const exponent = e && Number.parseInt(e.toString('hex') || '0', 16);
  if (!bytesOf(jwk.n) || (exponent !== 3 && exponent !== 65537)) return wrong;
  const key = spkiOf({ kty: 'RSA', n: withoutBlanks(jwk.n), e: withoutBlanks(jwk.e) });
  return key ? { kind: Kind.RSA, ...named, key } : wrong;
}

const CURVE_OF: ReadonlyMap<string, string> = new Map([
  ['ES256', 'P-256'],
  ['ES384', 'P-384'],
  ['ES512', 'P-521'],
]);

function ofCurve(jwk: Members, named: Named): Jwk | string {
  const alg = named.alg as string;
  if (alg !== '' && !alg.startsWith('ES')) return '[alg] is not started with [ES] for an EC key';
  if (jwk.crv !== undefined && typeof jwk.crv !== 'string') {
    return '[crv] field is not string for an EC key';
  }
  const said = textOf(jwk.crv);
  if (alg !== '' && said !== '' && CURVE_OF.get(alg) !== said) {
    return '[crv] field specified is not compatible with [alg] for an EC key';
  }
  const curve = said !== '' ? said : alg === '' ? 'P-256' : CURVE_OF.get(alg);
  if (curve === undefined || ![...CURVE_OF.values()].includes(curve)) {
    return '[crv] or [alg] field is not supported for an EC key';
  }
  for (const name of ['x', 'y']) {
    if (jwk[name] === undefined) return `[${name}] field is missing for an EC key`;
    if (typeof jwk[name] !== 'string') return `[${name}] field is not string for an EC key`;
  }
  if (!bytesOf(jwk.x) || !bytesOf(jwk.y)) return 'Jwks EC [x] or [y] field is an invalid Base64.';
  const key = spkiOf({ kty: 'EC', crv: curve, x: withoutBlanks(jwk.x), y: withoutBlanks(jwk.y) });
  return key ? { kind: Kind.EC, ...named, key } : 'Jwks EC [x] and [y] fields have a parse error.';
}

function ofOctets(jwk: Members, named: Named): Jwk | string {
  if (named.alg !== '' && !/^HS(256|384|512)$/.test(named.alg as string)) {
    return '[alg] does not start with [HS] for an HMAC key';
  }
  if (jwk.k === undefined) return '[k] field is missing for an HMAC key';
  if (typeof jwk.k !== 'string') return '[k] field is not string for an HMAC key';
  const key = bytesOf(jwk.k);
  if (!key || key.length === 0) return 'Jwks Oct key is an invalid Base64';
  return { kind: Kind.OCTETS, ...named, key };
}

const EDWARDS_BYTES = 32;

function ofEdwards(jwk: Members, named: Named): Jwk | string {
  if (named.alg !== '' && named.alg !== 'EdDSA') return '[alg] is not [EdDSA] for an OKP key';
  if (jwk.crv === undefined) return '[crv] field is missing for an OKP key';
  if (typeof jwk.crv !== 'string') return '[crv] field is not string for an OKP key';
  if (jwk.crv !== 'Ed25519') return '[crv] field is not supported for an OKP key';
  if (jwk.x === undefined) return '[x] field is missing for an OKP key';
  if (typeof jwk.x !== 'string') return '[x] field is not string for an OKP key';
  const bytes = bytesOf(jwk.x);
  if (!bytes) return 'Jwks OKP [x] field is an invalid Base64.';
  if (bytes.length !== EDWARDS_BYTES) return 'Jwks OKP [x] field is wrong length.';
  const key = spkiOf({ kty: 'OKP', crv: 'Ed25519', x: withoutBlanks(jwk.x) });
  return key ? { kind: Kind.ED25519, ...named, key } : 'Jwks OKP [x] field is wrong length.';
}

/** As some issuers have them: certificates by their kid. */
function isCertificates(document: Members): boolean {
  const entries = Object.entries(document);
  return (
    entries.length > 0 &&
    entries.every(
      ([kid, pem]) =>
        kid !== '' &&
        typeof pem === 'string' &&
        pem.startsWith('-----BEGIN CERTIFICATE-----\n') &&
        pem.endsWith('\n-----END CERTIFICATE-----\n'),
    )
  );
}

function ofCertificate(kid: string, pem: string): Jwk | string {
  try {
    const { publicKey } = new (crypto().X509Certificate)(pem);
    if (publicKey.asymmetricKeyType !== 'rsa') {
      return 'X509 parse pubkey internal fails: get pubkey';
    }
    return { kind: Kind.RSA, kid, key: publicKey.export({ type: 'spki', format: 'der' }) };
  } catch {
    return 'X509 parse pubkey fails';
  }
}

/** Undefined: it is no key. */
function spkiOf(jwk: Members): Uint8Array | undefined {
  try {
    return crypto()
      .createPublicKey({ key: jwk as Crypto.JsonWebKey, format: 'jwk' })
      .export({ type: 'spki', format: 'der' });
  } catch {
    return undefined;
  }
}

const withoutBlanks = (text: unknown): string => String(text).replace(/[ \t\n\v\f\r]/g, '');

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Of Base64url, in which blanks do not count. Undefined: it is none. */
function bytesOf(value: unknown): Buffer | undefined {
  if (typeof value !== 'string') return undefined;
  const coded = withoutBlanks(value);
  if (!/^[\w-]*={0,2}$/.test(coded)) return undefined;
  const digits = coded.replace(/=+$/, '');
  return digits.length % 4 === 1 ? undefined : Buffer.from(digits, 'base64url');
}

/** As the real server reads it: lines may end within a text. */
function parse(json: string): unknown {
  const strict = json.replace(/"(?:[^"\\]|\\.)*"/gs, (text) =>
    text.replace(/[\n\r\t]/g, (char) => ESCAPES[char] ?? char),
  );
  try {
    return JSON.parse(strict);
  } catch {
    return undefined;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Whether a server is who the configuration says it is.
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { crypto } from '../base/late-modules.js';
import { alternativeNames } from './alternative-names.js';
import type { DialFailure } from './dial-failure.js';
import type { SubjectTest, UpstreamTlsPlan } from '../plan/service-plan.js';

/** Undefined: it is. */
export function refusalOf(socket: TLSSocket, tls: UpstreamTlsPlan): DialFailure | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return { kind: 'certificate', message: 'the server has no certificate' };
  if (tls.roots && !socket.authorized) {
    const error: unknown = socket.authorizationError;
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'certificate', message: `the server's certificate is not trusted: ${why}` };
  }
  if (tls.subjects.length > 0 && !hasSubject(certificate, tls.subjects)) {
    return {
      kind: 'subject',
      message: `the server's certificate is for ${certificate.subjectAltName ?? 'no names'}, none of which is wanted`,
    };
  }
  if (!hasHash(certificate, tls)) {
    return { kind: 'hash', message: "the server's certificate is not one of those wanted" };
  }
  return undefined;
}

function hasHash(certificate: X509Certificate, { hashes, keyHashes }: UpstreamTlsPlan): boolean {
  if (hashes.length === 0 && keyHashes.length === 0) return true;
  const hash = crypto().createHash('sha256').update(certificate.raw).digest('hex');
  if (hashes.includes(hash)) return true;
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' });
  return keyHashes.includes(crypto().createHash('sha256').update(key).digest('base64'));
}

function hasSubject(certificate: X509Certificate, tests: readonly SubjectTest[]): boolean {
  const names = alternativeNames(certificate.subjectAltName ?? '');
  return tests.some((test) =>
    names.some(({ type, value }) => type === test.type && matches(test, value)),
  );
}

function matches({ type, how, value: wanted, ignoreCase }: SubjectTest, found: string): boolean {
  // Names of hosts are exact whatever their case, and a certificate's may be for all of a domain.
  if (type === 'DNS' && how === 'exact') {
    const [name, pattern] = [wanted.toLowerCase(), found.toLowerCase()];
    if (!pattern.startsWith('*.')) return name === pattern;
    const dot = name.indexOf('.');
    return dot > 0 && name.slice(dot) === pattern.slice(1);
  }
  const value = ignoreCase ? found.toLowerCase() : found;
  const want = ignoreCase ? wanted.toLowerCase() : wanted;
  if (how === 'exact') return value === want;
  if (how === 'prefix') return value.startsWith(want);
  if (how === 'suffix') return value.endsWith(want);
  return value.includes(want);
}

// What OpenSSL makes of a cluster's TLS settings: once for each.
import type { SecureContext } from 'node:tls';
import { tls as nodeTls } from '../../base/late-modules.js';
import type { UpstreamTlsPlan } from '../service-plan.js';

const contexts = new WeakMap<UpstreamTlsPlan, SecureContext>();

/** Throws what OpenSSL says of certificates, keys or lists that it does not understand. */
export function secureContextOf(tls: UpstreamTlsPlan): SecureContext {
  let context = contexts.get(tls);
  if (context) return context;
  context = nodeTls().createSecureContext({
    ...(tls.roots && { ca: tls.roots }),
    ...(tls.crl && { crl: tls.crl }),
    cert: tls.certificates.map(({ chain }) => chain.pem),
    key: tls.certificates.map(({ key, passphrase }) => ({ pem: key, passphrase })),
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    ...(tls.ciphers !== undefined && { ciphers: tls.ciphers }),
    ...(tls.curves !== undefined && { ecdhCurve: tls.curves }),
    ...(tls.signatures !== undefined && { sigalgs: tls.signatures }),
  });
  contexts.set(tls, context);
  return context;
}

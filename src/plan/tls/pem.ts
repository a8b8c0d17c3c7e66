// Certificates as texts have them (RFC 7468).
import type { PemFile } from '../service-plan.js';

const CERTIFICATE = /-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[^-]+-----END \1-----/g;

/** One by one; whatever else is between them is left out. */
export function certificatesIn(text: string, path: string): readonly PemFile[] {
  return Array.from(text.matchAll(CERTIFICATE), ([pem]) => ({ pem: Buffer.from(pem), path }));
}

// GET /certs: the certificates of TLS contexts, and how long they are good for.
import type { X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import { alternativeNames } from '../../grpc/alternative-names.js';
import type { PemFile, UpstreamTlsPlan } from '../../plan/service-plan.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { jsonReply } from '../http/http.js';

const DAY_MS = 86_400_000;
/** What /certs shows of a certificate's names, by type. */
const SHOWN_NAMES = { DNS: 'dns', URI: 'uri', IP_ADDRESS: 'ip_address' } as const;

export function certificateEndpoints(host: AdminHost): Endpoint[] {
  return [
    {
      path: '/certs',
      help: 'the TLS certificates in use',
      mutates: false,
      parameters: [],
      handle: () =>
        jsonReply({ certificates: host.tlsContexts.map((tls) => contextJson(tls, Date.now())) }),
    },
  ];
}

/** When the first of all certificates expires: milliseconds since 1970; undefined: there is none. */
export function firstExpiryMs(contexts: readonly UpstreamTlsPlan[]): number | undefined {
  const times = contexts.flatMap((tls) =>
    filesOf(tls).map(({ pem }) => Date.parse(parse(pem).validTo)),
  );
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Whole days; 0 once it is over. */
export function daysUntil(timeMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((timeMs - nowMs) / DAY_MS));
}

function filesOf({ roots, certificates }: UpstreamTlsPlan): readonly PemFile[] {
  return [...(roots ? [roots] : []), ...certificates.map(({ chain }) => chain)];
}

function contextJson({ roots, certificates }: UpstreamTlsPlan, nowMs: number): object {
  return {
    ca_cert: roots ? [certificateJson(roots, nowMs)] : [],
    cert_chain: certificates.map(({ chain }) => certificateJson(chain, nowMs)),
  };
}

function parse(pem: Buffer): X509Certificate {
  // Loaded where it is needed: most bootstraps have no TLS.
  const crypto = createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto');
  return new crypto.X509Certificate(pem);
}

/** Of several certificates in a file the first is shown. */
function certificateJson({ pem, path }: PemFile, nowMs: number): object {
  const certificate = parse(pem);
  const names = alternativeNames(certificate.subjectAltName ?? '');
  return {
    path,
    serial_number: certificate.serialNumber.toLowerCase(),
    subject_alt_names: names.flatMap<object>(({ type, value }) =>
      type === 'EMAIL' ? [] : [{ [SHOWN_NAMES[type]]: value }],
    ),
    days_until_expiration: String(daysUntil(Date.parse(certificate.validTo), nowMs)),
    valid_from: wholeSeconds(certificate.validFrom),
    expiration_time: wholeSeconds(certificate.validTo),
  };
}

const wholeSeconds = (date: string): string => new Date(date).toISOString().replace('.000Z', 'Z');

// GET /certs: the certificates of TLS contexts, and how long they are good for.
import type { X509Certificate } from 'node:crypto';
import { crypto } from '../../base/late-modules.js';
import { alternativeNames } from '../../grpc/alternative-names.js';
import type { PemFile } from '../../plan/service-plan.js';
import type { TlsFiles } from '../../plan/tls-socket.js';
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
export function firstExpiryMs(contexts: readonly TlsFiles[]): number | undefined {
  const times = contexts.flatMap((tls) => filesOf(tls).map(expiryOf));
  return times.length > 0 ? Math.min(...times) : undefined;
}

const expiries = new WeakMap<PemFile, number>();

/** Asked again and again, of files that stay. */
function expiryOf(file: PemFile): number {
  const known = expiries.get(file) ?? Date.parse(parse(file.pem).validTo);
  expiries.set(file, known);
  return known;
}

/** Whole days; 0 once it is over. */
export function daysUntil(timeMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((timeMs - nowMs) / DAY_MS));
}

function filesOf({ authorities, chains }: TlsFiles): readonly PemFile[] {
  return [...authorities, ...chains];
}

function contextJson({ authorities, chains }: TlsFiles, nowMs: number): object {
  return {
    ca_cert: authorities.map((file) => certificateJson(file, nowMs)),
    cert_chain: chains.map((file) => certificateJson(file, nowMs)),
  };
}

function parse(pem: Buffer): X509Certificate {
  return new (crypto().X509Certificate)(pem);
}

/** Of a chain its first certificate is shown. */
function certificateJson({ pem, path, ocsp }: PemFile, nowMs: number): object {
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
    ...(ocsp && {
      ocsp_details: {
        valid_from: wholeSeconds(ocsp.validFromMs),
        // What does not say until when it is good is so until now, as the real server has it.
        expiration:
          ocsp.expirationMs === undefined
            ? new Date().toISOString()
            : wholeSeconds(ocsp.expirationMs),
      },
    }),
  };
}

const wholeSeconds = (date: string | number): string =>
  new Date(date).toISOString().replace('.000Z', 'Z');

// What IAM Roles Anywhere is asked for credentials: signed by the key of a certificate that it trusts
// (Signature Version 4 by X.509).
import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { amzDate, canonicalHeaders, sha256 } from './aws-requests.js';
import type { AwsRequest, Fetched } from './aws-requests.js';

export interface AnywhereRole {
  readonly region: string;
  readonly roleArn: string;
  readonly profileArn: string;
  readonly trustAnchorArn: string;
  /** Empty: the service names it. */
  readonly sessionName: string;
  readonly durationS: number;
}

/** In PEM. */
export interface AnywhereIdentity {
  readonly certificate: string;
  /** Undefined: the certificate alone is enough. */
  readonly chain: string | undefined;
  readonly key: string;
}

const LONGEST_CHAIN = 5;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Undefined: the certificate or its key cannot be read. */
export function anywhereRequest(
  role: AnywhereRole,
  identity: AnywhereIdentity,
  nowMs: number,
): AwsRequest | undefined {
  try {
    return requestOf(role, identity, nowMs);
  } catch {
    return undefined;
  }
}

function requestOf(role: AnywhereRole, identity: AnywhereIdentity, nowMs: number): AwsRequest {
  const certificate = new X509Certificate(identity.certificate);
  const key = createPrivateKey(identity.key);
  const kind = key.asymmetricKeyType === 'ec' ? 'ECDSA' : 'RSA';
  const algorithm = `AWS4-X509-${kind}-SHA256`;
  const host = `rolesanywhere.${role.region}.amazonaws.com`;
  const body = JSON.stringify({
    durationSeconds: role.durationS,
    profileArn: role.profileArn,
    roleArn: role.roleArn,
    ...(role.sessionName !== '' && { roleSessionName: role.sessionName }),
    trustAnchorArn: role.trustAnchorArn,
  });
  const time = amzDate(nowMs);
  const digest = sha256(body);
  const chain = chainOf(identity.chain);
  const signed: [string, string][] = [
    ['content-type', 'application/json'],
    ['host', host],
    ['x-amz-content-sha256', digest],
    ['x-amz-date', time],
    ['x-amz-x509', certificate.raw.toString('base64')],
    ...(chain === '' ? [] : [['x-amz-x509-chain', chain] as [string, string]]),
  ];
  const [names, lines] = canonicalHeaders(signed);
  const canonical = ['POST', '/sessions', '', lines, names, digest].join('\n');
  const scope = `${time.slice(0, 8)}/${role.region}/rolesanywhere/aws4_request`;
  const text = [algorithm, time, scope, sha256(canonical)].join('\n');
  const signature = sign('sha256', Buffer.from(text), key).toString('hex');
  const serial = BigInt(`0x${certificate.serialNumber}`).toString();
  return {
    url: `https://${host}/sessions`,
    method: 'POST',
    headers: {
      ...Object.fromEntries(signed.filter(([name]) => name !== 'host')),
      authorization: `${algorithm} Credential=${serial}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    },
    body,
  };
}

function chainOf(pem: string | undefined): string {
  return (pem?.match(CERTIFICATE) ?? [])
    .slice(0, LONGEST_CHAIN)
    .map((one) => new X509Certificate(one).raw.toString('base64'))
    .join(',');
}

/** Undefined: it is none. */
export function readAnywhere(body: string): Fetched | undefined {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch {
    return undefined;
  }
  const set = (document as { credentialSet?: unknown } | null)?.credentialSet;
  const [first] = Array.isArray(set) ? (set as unknown[]) : [];
  const found = (first as { credentials?: Record<string, unknown> } | undefined)?.credentials;
  const text = (name: string): string =>
    typeof found?.[name] === 'string' ? (found[name] as string) : '';
  const credentials = {
    access_key_id: text('accessKeyId'),
    secret_access_key: text('secretAccessKey'),
    session_token: text('sessionToken'),
  };
  if (Object.values(credentials).includes('')) return undefined;
  const ends = Date.parse(text('expiration'));
  return { credentials, endsMs: Number.isNaN(ends) ? undefined : ends };
}

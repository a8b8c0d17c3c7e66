// What services of AWS that give credentials are asked, and what they answer.
import { createHash, createHmac } from 'node:crypto';
import type { AwsCredentials } from '../plan/plan.gen.js';

export interface AwsRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Fetched {
  readonly credentials: AwsCredentials;
  /** Milliseconds since 1970; undefined: nobody says when they end. */
  readonly endsMs: number | undefined;
}

/** Of instances. */
export const METADATA = 'http://169.254.169.254:80';
const ROLES = '/latest/meta-data/iam/security-credentials';

export const tokenRequest: AwsRequest = {
  url: `${METADATA}/latest/api/token`,
  method: 'PUT',
  headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' },
};

/** Of the instance's roles; of one of them. An empty token: version 1. */
export function roleRequest(token: string, role = ''): AwsRequest {
  return {
    url: METADATA + ROLES + (role === '' ? '' : `/${role}`),
    method: 'GET',
    headers: token === '' ? {} : { 'x-aws-ec2-metadata-token': token.trim() },
  };
}

export function containerRequest(url: string, token: string | undefined): AwsRequest {
  return { url, method: 'GET', headers: { authorization: token ?? '' } };
}

const stsHost = (region: string): string =>
  `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

export function webIdentityRequest(
  region: string,
  role: string,
  session: string,
  token: string,
): AwsRequest {
  const query = queryOf([
    ['Action', 'AssumeRoleWithWebIdentity'],
    ['Version', '2011-06-15'],
    ['RoleSessionName', session],
    ['RoleArn', role],
    ['WebIdentityToken', token],
  ]);
  const url = `https://${stsHost(region)}/?${query}`;
  return { url, method: 'GET', headers: { accept: 'application/json' } };
}

export interface Role {
  readonly region: string;
  readonly roleArn: string;
  readonly sessionName: string;
  readonly externalId: string;
  readonly durationS: number;
}

/** Signed (Signature Version 4) by whoever asks for the role. */
export function assumeRoleRequest(role: Role, by: AwsCredentials, nowMs: number): AwsRequest {
  const host = stsHost(role.region);
  const query = queryOf([
    ['Action', 'AssumeRole'],
    ...(role.durationS > 0 ? [['DurationSeconds', String(role.durationS)] as const] : []),
    ...(role.externalId === '' ? [] : [['ExternalId', role.externalId] as const]),
    ['RoleArn', role.roleArn],
    ['RoleSessionName', role.sessionName],
    ['Version', '2011-06-15'],
  ]);
  const time = amzDate(nowMs);
  const digest = sha256('');
  const signed: [string, string][] = [
    ['accept', 'application/json'],
    ['host', host],
    ['x-amz-content-sha256', digest],
    ['x-amz-date', time],
    ...(by.session_token ? [['x-amz-security-token', by.session_token] as [string, string]] : []),
  ];
  const [names, lines] = canonicalHeaders(signed);
  const request = ['GET', '/', query, lines, names, digest].join('\n');
  const scope = `${time.slice(0, 8)}/${role.region}/sts/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n');
  const key = [...scope.split('/')].reduce<Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    Buffer.from(`AWS4${by.secret_access_key ?? ''}`),
  );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const credential = `${by.access_key_id ?? ''}/${scope}`;
  return {
    url: `https://${host}/?${query}`,
    method: 'GET',
    headers: {
      ...Object.fromEntries(signed.filter(([name]) => name !== 'host')),
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
    },
  };
}

/** As `x-amz-date` has it: "20261126T044500Z". */
export const amzDate = (nowMs: number): string =>
  new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');

/** In hexadecimal. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Of headers that are signed: their names, and themselves, as a canonical request has them. */
export function canonicalHeaders(
  signed: readonly (readonly [string, string])[],
): readonly [names: string, lines: string] {
  return [
    signed.map(([name]) => name).join(';'),
    signed.map(([name, value]) => `${name}:${value}\n`).join(''),
  ];
}

function queryOf(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, value]) => `${name}=${encoded(value)}`).join('&');
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

// ---- answers ----

type Members = Readonly<Record<string, unknown>>;

/** Of an instance, or of a container. Undefined: it is none. */
export function readMetadata(body: string): Fetched | undefined {
  const document = parse(body);
  if (!document) return undefined;
  const ends = Date.parse(textOf(document['Expiration']));
  return {
    credentials: {
      access_key_id: textOf(document['AccessKeyId']),
      secret_access_key: textOf(document['SecretAccessKey']),
      session_token: textOf(document['Token']),
    },
    endsMs: Number.isNaN(ends) ? undefined : ends,
  };
}

/** Of the token service: `action`: "AssumeRole". Undefined: it is none. */
export function readRole(body: string, action: string): Fetched | undefined {
  const result = memberOf(memberOf(parse(body), `${action}Response`), `${action}Result`);
  const found = memberOf(result, 'Credentials');
  if (!found) return undefined;
  const credentials = {
    access_key_id: textOf(found['AccessKeyId']),
    secret_access_key: textOf(found['SecretAccessKey']),
    session_token: textOf(found['SessionToken']),
  };
  if (Object.values(credentials).includes('')) return undefined;
  const ends = Number(found['Expiration'] ?? 0);
  return { credentials, endsMs: ends > 0 ? ends * 1000 : undefined };
}

function parse(body: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

function memberOf(value: Members | undefined, name: string): Members | undefined {
  const member = value?.[name];
  return typeof member === 'object' && member !== null ? (member as Members) : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

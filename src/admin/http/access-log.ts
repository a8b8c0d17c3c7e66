// What the admin server's access logs are told of a request; the data plane formats and writes.
import { encodeAdminRequest } from '../../plan/plan.gen.js';
import type { NativeProxy } from '../../native.js';
import type { AdminReply, AdminRequest, Fault, SentBytes } from './http.js';

/** Why a request that no endpoint saw was answered as it was. */
const DETAILS: Readonly<Record<Fault, string>> = {
  protocol: 'http1.codec_error',
  host: 'missing_host_header',
  path: 'path_normalization_failed',
  elsewhere: 'absolute_path_rejected',
};
const LEFT = 'downstream_remote_disconnect';
const ANSWERED = 'admin_filter_response';

/** `localAddress` stands for a client that says nothing of itself. */
export function logRequest(
  native: Pick<NativeProxy, 'logAdminRequest'>,
  request: AdminRequest,
  { status = 200, fault }: AdminReply,
  sent: SentBytes,
  localAddress: string,
): void {
  const { method, target, headers, connection } = request;
  // What has no head, or no path to look for, gets no headers of ours.
  const isPassedOn = method !== '' && (fault === undefined || fault === 'protocol');
  const own = isPassedOn ? forwardedOf(headers['x-forwarded-for'], localAddress) : [];
  native.logAdminRequest(
    encodeAdminRequest({
      start_us: request.beganMs * 1000,
      duration_us: Math.max(0, Date.now() - request.beganMs) * 1000,
      method,
      path: target,
      authority: headers.host,
      scheme: isPassedOn ? 'http' : '',
      headers: [...own, ...lowerCase(request.rawHeaders)],
      response_headers: sent.headers.flat(),
      status,
      is_cut: sent.isCut,
      is_malformed: fault === 'protocol',
      details: sent.isCut ? LEFT : fault ? DETAILS[fault] : ANSWERED,
      bytes_received: Buffer.byteLength(request.body),
      bytes_sent: sent.ofBody,
      wire_received: connection.receivedBytes,
      wire_sent: sent.onWire,
      header_received: request.rawHeaders.reduce(addBytes, (request.rawHeaders.length / 2) * 3),
      header_sent: sent.headers.flat().reduce(addBytes, sent.headers.length * ': \r\n'.length),
      remote_address: connection.remoteAddress,
      local_address: connection.localAddress,
      connection_id: connection.id,
    }),
  );
}

function forwardedOf(before: string, localAddress: string): string[] {
  const forwarded = before === '' ? localAddress : `${before},${localAddress}`;
  return ['x-forwarded-for', forwarded, 'x-forwarded-proto', 'http'];
}

/** Those that are shown as the authority are none of the headers. */
function lowerCase(raw: readonly string[]): string[] {
  const headers: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? '';
    if (name !== 'host') headers.push(name, raw[index + 1] ?? '');
  }
  return headers;
}

const addBytes = (sum: number, text: string): number => sum + Buffer.byteLength(text);

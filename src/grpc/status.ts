// How a call ended, in the words of gRPC.
import type { IncomingHttpHeaders } from 'node:http2';

export const GRPC_CODES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export type GrpcCode = (typeof GRPC_CODES)[number];

export interface GrpcStatus {
  readonly code: GrpcCode;
  readonly message: string;
  /** The call has ended as it was made: there is nobody who could be asked. */
  readonly isAtOnce?: boolean;
}

/** Answers of what stands before a gRPC server: "http-grpc-status-mapping.md" of gRPC. */
const OF_HTTP: Readonly<Record<number, GrpcCode>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};
/** Those that are the server's fault, as a host's statistics count them. */
const SERVER_FAULTS: ReadonlySet<GrpcCode> = new Set([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
]);

export function isServerFault({ code }: GrpcStatus): boolean {
  return SERVER_FAULTS.has(code);
}

/** Of trailers, or of headers that are all that comes; undefined where they do not say. */
export function statusIn(headers: IncomingHttpHeaders): GrpcStatus | undefined {
  const code = headers['grpc-status'];
  if (code === undefined) return undefined;
  const message = headers['grpc-message'];
  return {
    code: GRPC_CODES[Number(code)] ?? 'UNKNOWN',
    message: decodePercent(typeof message === 'string' ? message : ''),
  };
}

/** Where an answer has no status of its own. */
export function statusOfHttp(status: number): GrpcStatus {
  return { code: OF_HTTP[status] ?? 'UNKNOWN', message: `HTTP status ${status}` };
}

export function statusText({ code, message }: GrpcStatus): string {
  return message === '' ? code : `${code}: ${message}`;
}

/** What is not well encoded stays as it is. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

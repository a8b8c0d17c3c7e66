// The work that every peer is given. Over loopback, from connections that stay, but for handshakes.

/**
 * What proxies do: `https`: clients speak TLS; `tls-origin`: the origin does; `handshake`: as `https`,
 * with a connection for each request; `h2`: clients speak HTTP/2 over TLS; `grpc`: clients and origin
 * speak HTTP/2 in the clear; `h2-origin`: the origin alone does; `transcode`: what clients say in JSON
 * becomes gRPC.
 * @typedef {'http' | 'tcp' | 'https' | 'tls-origin' | 'handshake' | 'h2' | 'grpc' | 'h2-origin' | 'transcode'} Mode
 *
 * @typedef {object} Workload
 * @property {string} name
 * @property {Mode} mode
 * @property {number} bodyBytes
 * @property {number} connections
 * @property {number} [streams] at once on each connection, of HTTP/2
 * @property {readonly string[]} [headers] of each request of HTTP/1: "name: value"
 */

/** @type {readonly Workload[]} */
export const workloads = [
  { name: 'http-100B-64c', mode: 'http', bodyBytes: 100, connections: 64 },
  { name: 'http-100B-1024c', mode: 'http', bodyBytes: 100, connections: 1024 },
  { name: 'http-16KiB-64c', mode: 'http', bodyBytes: 16 * 1024, connections: 64 },
  { name: 'http-256KiB-64c', mode: 'http', bodyBytes: 256 * 1024, connections: 64 },
  { name: 'tcp-100B-64c', mode: 'tcp', bodyBytes: 100, connections: 64 },
  { name: 'tcp-256KiB-16c', mode: 'tcp', bodyBytes: 256 * 1024, connections: 16 },
];

/** Asked for by --tls. @type {readonly Workload[]} */
export const tlsWorkloads = [
  { name: 'https-100B-64c', mode: 'https', bodyBytes: 100, connections: 64 },
  { name: 'https-256KiB-64c', mode: 'https', bodyBytes: 256 * 1024, connections: 64 },
  { name: 'tls-origin-100B-64c', mode: 'tls-origin', bodyBytes: 100, connections: 64 },
];

/** Asked for by --handshake. @type {readonly Workload[]} */
export const handshakeWorkloads = [
  { name: 'handshake-100B-16c', mode: 'handshake', bodyBytes: 100, connections: 16 },
];

/** Asked for by --h2. @type {readonly Workload[]} */
export const http2Workloads = [
  { name: 'h2-100B-16c', mode: 'h2', bodyBytes: 100, connections: 16, streams: 10 },
  { name: 'h2-256KiB-16c', mode: 'h2', bodyBytes: 256 * 1024, connections: 16, streams: 4 },
  { name: 'h2-origin-100B-64c', mode: 'h2-origin', bodyBytes: 100, connections: 64 },
];

/** Asked for by --grpc. @type {readonly Workload[]} */
export const grpcWorkloads = [
  { name: 'grpc-100B-16c', mode: 'grpc', bodyBytes: 100, connections: 16, streams: 10 },
  { name: 'grpc-256KiB-16c', mode: 'grpc', bodyBytes: 256 * 1024, connections: 16, streams: 4 },
  { name: 'transcode-100B-64c', mode: 'transcode', bodyBytes: 100, connections: 64 },
];

/** Whether it is h2load that makes the load. */
export const isOfH2load = (mode) => mode === 'h2' || mode === 'grpc';

/** The configuration that a mode takes. */
export const configOf = (mode) => (mode === 'handshake' ? 'https' : mode);

const PROTOCOLS = {
  http: 'HTTP/1.1 keep-alive',
  tcp: 'TCP relay',
  https: 'HTTP/1.1 over TLS',
  'tls-origin': 'HTTP/1.1 to an origin over TLS',
  handshake: 'HTTP/1.1, a TLS connection for each request',
  h2: 'HTTP/2 over TLS to HTTP/1.1',
  grpc: 'gRPC, unary, in the clear',
  'h2-origin': 'HTTP/1.1 to HTTP/2',
  transcode: 'JSON over HTTP/1.1 to gRPC',
};

/** The size of an answer as people say it. */
export function sizeText(bytes) {
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} B`;
}

/** @param {Workload} workload */
export function titleOf({ mode, bodyBytes, connections, streams }) {
  const crowd = `${connections.toLocaleString('en-US')} connections`;
  const each = streams === undefined ? '' : ` of ${streams} streams`;
  return `${PROTOCOLS[mode]}, ${sizeText(bodyBytes)} answers, ${crowd}${each}`;
}

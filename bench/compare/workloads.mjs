// The work that every peer is given. Over loopback, from connections that stay, but for handshakes.

/**
 * What proxies do: `https`: clients speak TLS; `tls-origin`: the origin does; `handshake`: as `https`,
 * with a connection for each request.
 * @typedef {'http' | 'tcp' | 'https' | 'tls-origin' | 'handshake'} Mode
 *
 * @typedef {object} Workload
 * @property {string} name
 * @property {Mode} mode
 * @property {number} bodyBytes
 * @property {number} connections
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

/** The configuration that a mode takes. */
export const configOf = (mode) => (mode === 'handshake' ? 'https' : mode);

const PROTOCOLS = {
  http: 'HTTP/1.1 keep-alive',
  tcp: 'TCP relay',
  https: 'HTTP/1.1 over TLS',
  'tls-origin': 'HTTP/1.1 to an origin over TLS',
  handshake: 'HTTP/1.1, a TLS connection for each request',
};

/** The size of an answer as people say it. */
export function sizeText(bytes) {
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} B`;
}

/** @param {Workload} workload */
export function titleOf({ mode, bodyBytes, connections }) {
  return `${PROTOCOLS[mode]}, ${sizeText(bodyBytes)} answers, ${connections.toLocaleString('en-US')} connections`;
}

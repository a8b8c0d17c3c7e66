// The work that every peer is given. Over loopback, from connections that stay.

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {'http' | 'tcp'} mode
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

/** The size of an answer as people say it. */
export function sizeText(bytes) {
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} B`;
}

/** @param {Workload} workload */
export function titleOf({ mode, bodyBytes, connections }) {
  const protocol = mode === 'http' ? 'HTTP/1.1 keep-alive' : 'TCP relay';
  return `${protocol}, ${sizeText(bodyBytes)} answers, ${connections.toLocaleString('en-US')} connections`;
}

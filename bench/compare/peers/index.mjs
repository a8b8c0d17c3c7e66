// Everyone who can be compared, in the order of the tables.
import * as before from './before.mjs';
import * as envoy from './envoy.mjs';
import * as fairlead from './fairlead.mjs';
import * as fastifyHttpProxy from './fastify-http-proxy.mjs';
import * as floor from './floor.mjs';
import * as haproxy from './haproxy.mjs';
import * as httpProxy from './http-proxy.mjs';
import * as nginx from './nginx.mjs';

/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {boolean} [isProxy] false: left out where only a proxy makes sense
 * @property {(mode: import('../workloads.mjs').Mode) => string | undefined} missing why it cannot take part
 * @property {() => string} version
 * @property {(options: StartOptions) => Promise<{pids: number[], stop(): Promise<void>}>} start
 *
 * @typedef {object} StartOptions
 * @property {{port: number}} origin
 * @property {number} listenPort
 * @property {import('../workloads.mjs').Mode} mode
 * @property {string} cpus for taskset
 * @property {string} directory its own, empty
 */

/** @type {readonly Peer[]} */
export const peers = [floor, fairlead, before, envoy, nginx, haproxy, httpProxy, fastifyHttpProxy];

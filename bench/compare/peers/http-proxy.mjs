// The http-proxy package, one Node process.
import { nodePeer } from './node-peer.mjs';

export const { name, missing, version, start } = nodePeer('http-proxy', 'http-proxy.server.mjs');

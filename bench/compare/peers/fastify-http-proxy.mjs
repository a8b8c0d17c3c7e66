// The @fastify/http-proxy package, one Node process.
import { nodePeer } from './node-peer.mjs';

export const { name, missing, version, start } = nodePeer(
  '@fastify/http-proxy',
  'fastify-http-proxy.server.mjs',
);

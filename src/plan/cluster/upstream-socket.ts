// How a cluster's hosts are reached: what its transport sockets become.
import type { envoy_config_core_v3_TransportSocket as TransportSocket } from '../../../build/messages.gen.js';
import { findExtension, type CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { RAW_BUFFER } from '../raw-buffer.js';
import type { UpstreamSocketPlan } from '../tls-socket.js';

/**
 * A transport socket that says something before the one within it speaks with the host holds no other of
 * its like. True: `inner` is one, and refused with this problem.
 */
export function refusesWithin(
  inner: UpstreamSocketPlan | undefined,
  place: Place,
  problem: string,
): boolean {
  if (!inner?.proxyProtocol && !inner?.http11Proxy && !inner?.internalUpstream) return false;
  place.error(problem, { expected: 'raw_buffer or tls' });
  return true;
}

/** Without a message: bytes in the clear. Undefined after an error. */
export function compileUpstreamSocket(
  message: TransportSocket | undefined,
  place: Place,
  context: CompileContext,
): UpstreamSocketPlan | undefined {
  const config = message ?? RAW_BUFFER;
  const extension = findExtension(context, 'upstreamTransportSockets', config, place);
  const socket =
    config.typed_config &&
    extension?.compile(config.typed_config, place.field('typed_config'), context);
  if (socket === undefined) return undefined;
  if (socket === true) return {};
  return 'control' in socket ? { tls: socket } : socket;
}

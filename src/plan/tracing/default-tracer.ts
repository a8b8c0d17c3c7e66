// The bootstrap's tracing: the tracer of connection managers that name none of their own.
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../../build/messages.gen.js';
import { findExtension, type CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';

/** Undefined: there is none, or none that is known; then an issue says so, whoever would use it. */
export function findDefaultTracer(
  { tracing }: Bootstrap,
  place: Place,
  context: Pick<CompileContext, 'extensions'>,
): CompileContext['defaultTracer'] {
  const message = tracing?.http;
  if (!message) return undefined;
  const at = place.field('tracing').field('http');
  return findExtension(context, 'tracers', message, at) && { message, place: at };
}

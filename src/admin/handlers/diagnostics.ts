// Waits for locks, and what the start waits for.
import { createHash } from 'node:crypto';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { jsonReply, type AdminReply } from '../http/http.js';

const NO_TRACING =
  'Mutex contention tracing is not enabled. To enable, run Envoy with flag --enable-mutex-tracing.';

export function diagnosticEndpoints(host: AdminHost): Endpoint[] {
  return [
    page('/contention', 'how long locks were waited for, if that is traced', () =>
      contention(host),
    ),
    {
      ...page('/init_dump', 'what the start waits for', () => initDump(host)),
      parameters: [{ name: 'mask', help: 'The parts to show, such as listener' }],
    },
  ];
}

/** Before the server is LIVE each static listener is waited for, and what it waits for itself. */
function initDump(host: AdminHost): AdminReply {
  const { xds, bootstrap } = host;
  const isWaiting = ['PRE_INITIALIZING', 'INITIALIZING'].includes(host.state());
  const names = xds?.unready ?? [];
  const listeners = isWaiting ? (bootstrap.static_resources?.listeners ?? []) : [];
  const dumps = [
    ...(names.length > 0 ? [{ name: 'init manager Server', target_names: names }] : []),
    ...listeners.map((listener) => ({
      name: `init manager Listener-local-init-manager ${listener.name ?? ''} ${hashOf(listener)}`,
    })),
  ];
  return jsonReply(dumps.length > 0 ? { unready_targets_dumps: dumps } : {});
}

/** A number of 64 bits that tells configurations apart. */
const hashOf = (message: object): bigint =>
  createHash('sha256').update(JSON.stringify(message)).digest().readBigUInt64LE();

function contention({ options, native }: AdminHost): AdminReply {
  if (!options.enableMutexTracing) return { body: NO_TRACING };
  const { count, lastWaitCycles, totalWaitCycles } = native.contention();
  return jsonReply({
    num_contentions: String(count),
    current_wait_cycles: String(lastWaitCycles),
    lifetime_wait_cycles: String(totalWaitCycles),
  });
}

function page(path: string, help: string, handle: () => AdminReply): Endpoint {
  return { path, help, mutates: false, parameters: [], handle };
}

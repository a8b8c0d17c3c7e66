// Waits for locks; and what the real server has a page for and this one has nothing to show on yet:
// nothing that a listener waits for.
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
      ...page('/init_dump', 'what the start waits for', () => jsonReply({})),
      parameters: [{ name: 'mask', help: 'The parts to show, such as listener' }],
    },
  ];
}

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

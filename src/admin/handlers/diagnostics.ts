// What the real server has pages for and this one has nothing to show on yet: no TLS certificates,
// no traced locks, nothing that a listener waits for.
import type { Endpoint } from '../endpoint.js';
import { jsonReply, type AdminReply } from '../http.js';

const NO_TRACING =
  'Mutex contention tracing is not enabled. To enable, run Envoy with flag --enable-mutex-tracing.';

export function diagnosticEndpoints(): Endpoint[] {
  return [
    page('/certs', 'the TLS certificates in use', () => jsonReply({ certificates: [] })),
    page('/contention', 'how long locks were waited for, if that is traced', () => ({
      body: NO_TRACING,
    })),
    {
      ...page('/init_dump', 'what the start waits for', () => jsonReply({})),
      parameters: [{ name: 'mask', help: 'The parts to show, such as listener' }],
    },
  ];
}

function page(path: string, help: string, handle: () => AdminReply): Endpoint {
  return { path, help, mutates: false, parameters: [], handle };
}

// GET /ready, POST /healthcheck/fail and /healthcheck/ok
import type { Server } from '../../server/server.js';
import type { Endpoint } from '../endpoints.js';

export function healthEndpoints(server: Server): Endpoint[] {
  const setHealthy = (path: string, healthy: boolean, help: string): Endpoint => ({
    path,
    help,
    mutates: true,
    parameters: [],
    handle: () => {
      server.setHealthy(healthy);
      return { body: 'OK\n' };
    },
  });
  return [
    {
      path: '/ready',
      help: 'print server state, return 200 if LIVE, otherwise return 503',
      mutates: false,
      parameters: [],
      handle: () => {
        const state = server.state();
        return { status: state === 'LIVE' ? 200 : 503, body: `${state}\n` };
      },
    },
    setHealthy('/healthcheck/fail', false, 'cause the server to fail health checks'),
    setHealthy('/healthcheck/ok', true, 'cause the server to pass health checks'),
  ];
}

// GET /ready, POST /healthcheck/fail and /healthcheck/ok
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';

export function healthEndpoints(host: AdminHost): Endpoint[] {
  return [
    {
      path: '/ready',
      help: 'the state of the server; status 200 when it is LIVE, 503 otherwise',
      mutates: false,
      parameters: [],
      handle: () => {
        const state = host.state();
        return { status: state === 'LIVE' ? 200 : 503, body: `${state}\n` };
      },
    },
    healthSwitch('/healthcheck/fail', 'make health checks of this server fail', () =>
      host.setHealthy(false),
    ),
    healthSwitch('/healthcheck/ok', 'take /healthcheck/fail back', () => host.setHealthy(true)),
  ];
}

function healthSwitch(path: string, help: string, act: () => void): Endpoint {
  return {
    path,
    help,
    mutates: true,
    parameters: [],
    handle: () => {
      act();
      return { body: 'OK\n' };
    },
  };
}

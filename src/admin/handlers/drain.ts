// POST /drain_listeners
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';

const GRADUAL = ['graceful', 'skip_exit'] as const;

export function drainEndpoints({ native }: AdminHost): Endpoint[] {
  return [
    {
      path: '/drain_listeners',
      help: 'stop listening; open connections go on',
      mutates: true,
      parameters: [
        { name: 'graceful', help: 'Not supported yet', isFlag: true },
        { name: 'skip_exit', help: 'Not supported yet', isFlag: true },
        { name: 'inboundonly', help: 'Only the inbound listeners', isFlag: true },
      ],
      handle: ({ parameters }) => {
        const refused = GRADUAL.find((name) => parameters.has(name));
        if (refused)
          return { status: 501, body: `${refused}: draining over time is not supported yet\n` };
        native.stopListeners(parameters.has('inboundonly'));
        return { body: 'OK\n' };
      },
    },
  ];
}

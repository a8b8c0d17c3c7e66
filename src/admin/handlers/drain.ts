// POST /drain_listeners
import type { DrainScope } from '../../native.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';

export function drainEndpoints({ drain }: AdminHost): Endpoint[] {
  return [
    {
      path: '/drain_listeners',
      help: 'stop listening and ask clients to close; open connections go on',
      mutates: true,
      parameters: [
        { name: 'graceful', help: 'Listen on until the drain time is over', isFlag: true },
        { name: 'skip_exit', help: 'Ask clients to close, but never stop listening', isFlag: true },
        { name: 'inboundonly', help: 'Only the inbound listeners', isFlag: true },
      ],
      handle: ({ parameters }) => {
        const scope: DrainScope = parameters.has('inboundonly') ? 'inbound' : 'all';
        const stop = (): void => drain.stopListening(scope);
        const keepsListening = parameters.has('skip_exit');
        const isGraceful = parameters.has('graceful');
        drain.start(scope, isGraceful && !keepsListening ? stop : undefined);
        if (!isGraceful && !keepsListening) stop();
        return { body: 'OK\n' };
      },
    },
  ];
}

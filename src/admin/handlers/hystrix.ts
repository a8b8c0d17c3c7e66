// GET /hystrix_event_stream: only with the sink of that name.
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';

const HEADERS = [
  ['access-control-allow-headers', 'Accept, Cache-Control, X-Requested-With, Last-Event-ID'],
  ['access-control-allow-origin', '*'],
] as const;

export function hystrixEndpoints({ hystrix }: AdminHost): Endpoint[] {
  if (!hystrix) return [];
  return [
    {
      path: '/hystrix_event_stream',
      help: 'send hystrix event stream',
      mutates: false,
      parameters: [],
      handle: () => ({ type: 'events', headers: HEADERS, body: hystrix }),
    },
  ];
}

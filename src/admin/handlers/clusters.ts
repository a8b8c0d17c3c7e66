// GET /clusters
import { compileFilter } from '../../plan/match/regex/regex.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { badRequest } from '../http/http.js';
import { lazyPage } from '../pages/lazy-page.js';

export function clusterEndpoints(host: AdminHost): Endpoint[] {
  return [
    {
      path: '/clusters',
      help: 'what is known of each cluster and its hosts',
      mutates: false,
      parameters: [
        { name: 'filter', help: 'A regular expression (RE2) that is searched in cluster names' },
        { name: 'format', help: 'The form of the answer', oneOf: ['text', 'json'] },
      ],
      handle: ({ parameters }) => {
        const pattern = parameters.get('filter') ?? '';
        const filter = pattern === '' ? undefined : compileFilter(pattern);
        if (filter && 'error' in filter) {
          // Of what is wrong with it the real server says nothing.
          const why = filter.isTooLarge ? `: ${filter.error}` : '';
          return badRequest(`Invalid re2 regex${why}`);
        }
        const format = parameters.get('format') === 'json' ? 'json' : 'text';
        // What is asked for elsewhere may begin after this server.
        const services = host.xds?.serviceNames() ?? [];
        const body = lazyPage(() => host.native.openClusters(format, filter?.program, services));
        return { type: format, body };
      },
    },
  ];
}

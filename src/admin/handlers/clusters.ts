// GET /clusters
import type { Server } from '../../server/server.js';
import { compileRegex } from '../../plan/regex.js';
import type { Endpoint } from '../endpoints.js';

export function clusterEndpoints(server: Server): Endpoint[] {
  return [
    {
      path: '/clusters',
      help: 'upstream cluster status',
      mutates: false,
      parameters: [{ name: 'filter', help: 'Regular expression (Google re2) for filtering clusters by name' }],
      handle: ({ query }) => {
        const pattern = query.get('filter') ?? '';
        const filter = pattern === '' ? undefined : compileRegex(pattern);
        if (filter && 'error' in filter) return { status: 400, body: 'Invalid re2 regex\n' };
        const json = query.get('format') === 'json';
        return { type: json ? 'json' : 'text', body: server.native.openClusters(json ? 'json' : 'text', filter?.program) };
      },
    },
  ];
}

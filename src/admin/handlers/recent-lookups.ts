// /stats/recentlookups: which statistics were looked up by name.
import type { RecentLookups } from '../../stats/recent-lookups.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import type { AdminReply } from '../http/http.js';

const OFF = 'Lookup tracking is not enabled. Use /stats/recentlookups/enable to enable.\n';
const UNAVAILABLE = 'Lookup tracking is not available with --use-fake-symbol-table 1.\n';
const OK: AdminReply = { body: 'OK\n' };
const COUNT_WIDTH = 8;

export function recentLookupEndpoints({ stats, options }: AdminHost): Endpoint[] {
  const { lookups } = stats;
  const isAvailable = options.useFakeSymbolTable === 0;
  const off = isAvailable ? OFF : UNAVAILABLE;
  return [
    {
      path: '/stats/recentlookups',
      help: 'which statistics were looked up by name of late',
      mutates: false,
      parameters: [],
      handle: () => ({ body: `${lookups.isOn ? table(lookups) : off}\ntotal: ${lookups.total}\n` }),
    },
    action('clear', 'forget the lookups and their number', () => {
      lookups.clear();
      return OK;
    }),
    action('disable', 'no longer remember lookups', () => {
      lookups.disable();
      return OK;
    }),
    action('enable', 'remember lookups from here on', () => {
      if (!isAvailable) return { status: 400, body: UNAVAILABLE };
      lookups.enable();
      return OK;
    }),
  ];
}

function table(lookups: RecentLookups): string {
  const rows = lookups
    .list()
    .map(([name, count]) => `${String(count).padStart(COUNT_WIDTH)} ${name}\n`);
  return `${'Count'.padStart(COUNT_WIDTH)} Lookup\n${rows.join('')}`;
}

function action(name: string, help: string, handle: () => AdminReply): Endpoint {
  return {
    path: `/stats/recentlookups/${name}`,
    help,
    mutates: true,
    parameters: [],
    handle,
  };
}

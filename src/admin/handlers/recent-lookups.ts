// /stats/recentlookups: which statistics were looked up by name.
import type { RecentLookups } from '../../server/recent-lookups.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';

const OFF = 'Lookup tracking is not enabled. Use /stats/recentlookups/enable to enable.\n';
const COUNT_WIDTH = 8;

export function recentLookupEndpoints({ stats }: AdminHost): Endpoint[] {
  const { lookups } = stats;
  return [
    {
      path: '/stats/recentlookups',
      help: 'which statistics were looked up by name of late',
      mutates: false,
      parameters: [],
      handle: () => ({ body: `${lookups.isOn ? table(lookups) : OFF}\ntotal: ${lookups.total}\n` }),
    },
    action('clear', 'forget the lookups and their number', () => lookups.clear()),
    action('disable', 'no longer remember lookups', () => lookups.disable()),
    action('enable', 'remember lookups from here on', () => lookups.enable()),
  ];
}

function table(lookups: RecentLookups): string {
  const rows = lookups
    .list()
    .map(([name, count]) => `${String(count).padStart(COUNT_WIDTH)} ${name}\n`);
  return `${'Count'.padStart(COUNT_WIDTH)} Lookup\n${rows.join('')}`;
}

function action(name: string, help: string, act: () => void): Endpoint {
  return {
    path: `/stats/recentlookups/${name}`,
    help,
    mutates: true,
    parameters: [],
    handle: () => {
      act();
      return { body: 'OK\n' };
    },
  };
}

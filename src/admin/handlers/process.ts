// What concerns the process: GET /memory, POST /quitquitquit and /reopen_logs, GET /hot_restart_version.
import type { NativeProxy } from '../../native.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { jsonReply, type AdminHandler } from '../http/http.js';

export function processEndpoints(host: AdminHost): Endpoint[] {
  const endpoint = (
    path: string,
    help: string,
    mutates: boolean,
    handle: AdminHandler,
  ): Endpoint => ({
    path,
    help,
    mutates,
    parameters: [],
    handle,
  });
  return [
    endpoint('/memory', 'how much memory is in use', false, () =>
      jsonReply(memoryReport(host.native)),
    ),
    endpoint('/hot_restart_version', 'which versions can take over from each other', false, () => ({
      body: host.hotRestartVersion,
    })),
    endpoint('/reopen_logs', 'open the log files anew', true, () => {
      host.reopenLogs();
      return { body: 'OK\n' };
    }),
    // The answer leaves first.
    endpoint('/quitquitquit', 'end the server', true, () => ({ body: 'OK\n', then: host.quit })),
  ];
}

function memoryReport(native: NativeProxy): Record<string, string> {
  const memory = native.memory();
  const report = {
    allocated: memory.allocated,
    heap_size: memory.heapSize,
    pageheap_unmapped: 0,
    pageheap_free: memory.free,
    total_thread_cache: 0,
    total_physical_bytes: process.memoryUsage.rss(),
  };
  return Object.fromEntries(Object.entries(report).map(([name, bytes]) => [name, String(bytes)]));
}

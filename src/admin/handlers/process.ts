// What concerns the process: /memory, /server_info, /quitquitquit, /reopen_logs.
import type { Server } from '../../server/server.js';
import type { Endpoint } from '../endpoints.js';
import { serverInfo } from './server-info.js';

export function processEndpoints(server: Server): Endpoint[] {
  const query = (path: string, help: string, body: () => string): Endpoint => ({
    path,
    help,
    mutates: false,
    parameters: [],
    handle: () => ({ type: 'json', body: body() }),
  });
  const mutation = (path: string, help: string, act: () => void, then?: () => void): Endpoint => ({
    path,
    help,
    mutates: true,
    parameters: [],
    handle: () => {
      act();
      return { body: 'OK\n', ...(then ? { then } : {}) };
    },
  });
  return [
    query('/memory', 'print current allocation/heap usage', () => memoryText(server)),
    query('/server_info', 'print server version/status information', () => serverInfo(server)),
    mutation('/reopen_logs', 'reopen access logs', () => server.reopenLogs()),
    // The answer leaves first.
    mutation('/quitquitquit', 'exit the server', () => undefined, () => process.emit('fairlead:quit' as 'beforeExit', 0)),
  ];
}

function memoryText(server: Server): string {
  const memory = server.native.memory();
  const report = {
    allocated: memory.allocated,
    heap_size: memory.heapSize,
    pageheap_unmapped: 0,
    pageheap_free: memory.free,
    total_thread_cache: 0,
    total_physical_bytes: process.memoryUsage.rss(),
  };
  const texts = Object.fromEntries(Object.entries(report).map(([name, value]) => [name, String(value)]));
  return `${JSON.stringify(texts, null, 1)}\n`;
}

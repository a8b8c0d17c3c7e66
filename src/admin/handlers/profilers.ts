// POST /cpuprofiler, POST /heapprofiler, GET /heap_dump
import { ControlProfiler } from '../control-profiler.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminReply } from '../http.js';

const ENABLE = {
  name: 'enable',
  help: 'y starts it, n ends it and writes profile_path',
  oneOf: ['y', 'n'],
} as const;

export function profilerEndpoints(profilePath: string): Endpoint[] {
  const profiler = new ControlProfiler(profilePath);
  return [
    {
      path: '/cpuprofiler',
      help: 'profile the control thread; pprof reads the file',
      mutates: true,
      parameters: [ENABLE],
      handle: ({ parameters }) => switchCpu(profiler, parameters.get('enable')),
    },
    {
      path: '/heapprofiler',
      help: 'profile the heap, if that is supported',
      mutates: true,
      parameters: [ENABLE],
      handle: () => ({ status: 501, body: 'The current build does not support heap profiler' }),
    },
    {
      path: '/heap_dump',
      help: 'what the heap of the control thread holds; pprof reads it',
      mutates: false,
      parameters: [],
      handle: () => ({ body: onePiece(profiler.heapDump()) }),
    },
  ];
}

function switchCpu(profiler: ControlProfiler, enable: string | undefined): AdminReply {
  if (enable !== 'y' && enable !== 'n') return { status: 400, body: '?enable=<y|n>\n' };
  const isDone = enable === 'y' ? profiler.startCpu() : profiler.stopCpu();
  if (!isDone) return { status: 500, body: 'failure to start the profiler' };
  return { body: 'OK\n' };
}

function onePiece(bytes: Buffer): AdminReply['body'] {
  let rest: Buffer | null = bytes;
  return {
    next: () => {
      const piece = rest;
      rest = null;
      return piece;
    },
  };
}

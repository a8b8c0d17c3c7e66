// POST /cpuprofiler, POST /heapprofiler, GET /heap_dump
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { badRequest, type AdminHandler, type AdminReply } from '../http.js';
import { Profilers } from '../profilers.js';

const ENABLE = {
  name: 'enable',
  help: 'y starts it, n ends it and writes profile_path',
  oneOf: ['y', 'n'],
} as const;

export function profilerEndpoints({ native }: AdminHost, profilePath: string): Endpoint[] {
  const profilers = new Profilers(native, profilePath);
  return [
    {
      path: '/cpuprofiler',
      help: 'profile what all threads spend their CPU time on; pprof reads the file',
      mutates: true,
      parameters: [ENABLE],
      handle: switchOf((enable) => switchCpu(profilers, enable)),
    },
    {
      path: '/heapprofiler',
      help: 'profile what the control thread allocates; pprof reads the file',
      mutates: true,
      parameters: [ENABLE],
      handle: switchOf((enable) => switchHeap(profilers, enable, profilePath)),
    },
    {
      path: '/heap_dump',
      help: 'what the heap of the control thread holds; pprof reads it',
      mutates: false,
      parameters: [],
      handle: () => ({ body: onePiece(profilers.heapDump()) }),
    },
  ];
}

function switchOf(act: (enable: boolean) => AdminReply): AdminHandler {
  return ({ parameters }) => {
    const enable = parameters.get('enable');
    return enable === 'y' || enable === 'n' ? act(enable === 'y') : badRequest('?enable=<y|n>\n');
  };
}

function switchCpu(profilers: Profilers, enable: boolean): AdminReply {
  const isDone = enable ? profilers.startCpu() : profilers.stopCpu();
  return isDone ? { body: 'OK\n' } : { status: 500, body: 'failure to start the profiler' };
}

function switchHeap(profilers: Profilers, enable: boolean, path: string): AdminReply {
  if (profilers.isHeapRunning === enable) {
    return badRequest(
      enable
        ? 'Fail to start heap profiler: already started'
        : 'Fail to stop heap profiler: not started',
    );
  }
  const isDone = enable ? profilers.startHeap() : profilers.stopHeap();
  if (!isDone) return { status: 500, body: `Fail to write the heap profile to ${path}` };
  const what = enable
    ? 'Starting heap profiler'
    : `Heap profiler stopped and data written to ${path}`;
  return { body: what };
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

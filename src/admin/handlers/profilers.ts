// POST /cpuprofiler, POST /heapprofiler, GET /heap_dump
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { badRequest, type AdminHandler, type AdminReply } from '../http/http.js';
import { Profilers } from '../profiles/profilers.js';

const ENABLE = {
  name: 'enable',
  help: 'y starts it, n ends it and writes profile_path',
  oneOf: ['y', 'n'],
} as const;

const ALLOCATIONS = { ...ENABLE, help: 'y starts it, n ends it and answers with the profile' };

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
      path: '/allocprofiler',
      help: 'profile all that the control thread allocates; pprof reads the answer to n',
      mutates: true,
      parameters: [ALLOCATIONS],
      handle: switchOf((enable) => switchAllocations(profilers, enable)),
    },
    {
      path: '/heap_dump',
      help: 'what the heap holds, and since the first call who allocated it; pprof reads it',
      mutates: false,
      parameters: [],
      handle: () => ({ body: onePiece(profilers.heapDump()) }),
    },
  ];
}

function switchOf(act: (enable: boolean) => AdminReply): AdminHandler {
  return ({ parameters }) => {
    const enable = parameters.size === 1 ? parameters.get('enable') : undefined;
    return enable === 'y' || enable === 'n' ? act(enable === 'y') : badRequest('?enable=<y|n>\n');
  };
}

function switchCpu(profilers: Profilers, enable: boolean): AdminReply {
  const failure = enable ? profilers.startCpu() : profilers.stopCpu();
  if (failure === undefined) return { body: 'OK\n' };
  return { status: 500, body: `failure to ${enable ? 'start' : 'stop'} the profiler: ${failure}` };
}

function switchHeap(profilers: Profilers, enable: boolean, path: string): AdminReply {
  const isRunning = profilers.heapUse === 'heapprofiler';
  if (isRunning && enable) return badRequest('Fail to start heap profiler: already started');
  if (!isRunning && !enable) return badRequest('Fail to stop heap profiler: not started');
  if (profilers.heapUse === 'allocprofiler') {
    return badRequest('Fail to start heap profiler: the allocation profiler runs');
  }
  const failure = enable ? profilers.startHeap() : profilers.stopHeap();
  if (failure !== undefined) {
    const what = enable ? 'start' : 'stop';
    return { status: 500, body: `Fail to ${what} heap profiler: ${failure}` };
  }
  const what = enable
    ? 'Starting heap profiler'
    : `Heap profiler stopped and data written to ${path}`;
  return { body: what };
}

function switchAllocations(profilers: Profilers, enable: boolean): AdminReply {
  const isRunning = profilers.heapUse === 'allocprofiler';
  if (!isRunning && !enable) return badRequest('Allocation profiler is not started');
  if (!enable) return { body: onePiece(profilers.stopAllocations()) };
  if (isRunning) return badRequest('Allocation profiler has already started');
  if (profilers.heapUse === 'heapprofiler') {
    return badRequest('Allocation profiler cannot start: the heap profiler runs');
  }
  profilers.startAllocations();
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

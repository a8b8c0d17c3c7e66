// V8's profiles of the control thread.
import type { HeapProfiler, Profiler, Session } from 'node:inspector';
import { encodeProfile, type ProfileSample } from './pprof.js';

const HEAP_SAMPLE_BYTES = 512 * 1024;
const THREAD = 'control';
/** No CPU time is spent there. */
const IDLE = '(idle)';

/** Of the own thread. The module is loaded only for this. */
function openSession(): Session {
  const inspector = process.getBuiltinModule('node:inspector');
  const session = new inspector.Session();
  session.connect();
  return session;
}

/** A CPU profile under way. Calls to the inspector of the own thread end before they return. */
export class ControlCpuProfile {
  readonly #session = openSession();

  constructor() {
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.start');
  }

  /** Ends it. The values: samples, nanoseconds. */
  stop(): readonly ProfileSample[] {
    let samples: readonly ProfileSample[] = [];
    this.#session.post('Profiler.stop', (error, result) => {
      if (!error) samples = cpuSamples(result.profile);
    });
    this.#session.disconnect();
    return samples;
  }
}

/** What is allocated from when it was made on: all of that, or what is still there. */
export class ControlHeapProfile {
  readonly #session = openSession();
  readonly #beganMs = Date.now();

  constructor(of: 'what stays' | 'all') {
    const isAll = of === 'all';
    this.#session.post('HeapProfiler.startSampling', {
      samplingInterval: HEAP_SAMPLE_BYTES,
      includeObjectsCollectedByMajorGC: isAll,
      includeObjectsCollectedByMinorGC: isAll,
    });
  }

  /** The file of a profile; `more`: of what the sampling does not see. */
  encode(more: (sampledBytes: number) => readonly ProfileSample[] = () => []): Buffer {
    const samples: ProfileSample[] = [];
    this.#session.post('HeapProfiler.getSamplingProfile', (error, result) => {
      if (!error) samples.push(...heapSamples(result.profile.head, []));
    });
    samples.push(...more(samples.reduce((sum, { values }) => sum + (values[1] ?? 0), 0)));
    return encodeHeap(samples, Date.now() - this.#beganMs);
  }

  stop(): void {
    this.#session.disconnect();
  }
}

/** The file of a profile. The values: objects, bytes. */
export function encodeHeap(samples: readonly ProfileSample[], durationMs: number): Buffer {
  return encodeProfile({
    kinds: [
      ['objects', 'count'],
      ['space', 'bytes'],
    ],
    samples,
    period: HEAP_SAMPLE_BYTES,
    periodKind: ['space', 'bytes'],
    durationNanos: durationMs * 1e6,
  });
}

/** Inner first. */
type Frames = ProfileSample['frames'];

function cpuSamples({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ProfileSample[] {
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) =>
      children.map((child): [number, number] => [child, id]),
    ),
  );
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stackOf = (id: number | undefined): Frames => {
    const node = id === undefined ? undefined : byId.get(id);
    return node && id !== undefined ? [node.callFrame, ...stackOf(parents.get(id))] : [];
  };
  const spent = new Map<number, { count: number; nanos: number }>();
  for (const [index, id] of samples.entries()) {
    if (byId.get(id)?.callFrame.functionName === IDLE) continue;
    const sum = spent.get(id) ?? { count: 0, nanos: 0 };
    sum.count++;
    // The time until the next sample.
    sum.nanos += Math.max(0, timeDeltas[index + 1] ?? 0) * 1000;
    spent.set(id, sum);
  }
  return [...spent].map(([id, { count, nanos }]) => ({
    frames: stackOf(id),
    values: [count, nanos],
    thread: THREAD,
  }));
}

function heapSamples(node: HeapProfiler.SamplingHeapProfileNode, outer: Frames): ProfileSample[] {
  const frames = [node.callFrame, ...outer];
  const below = node.children.flatMap((child) => heapSamples(child, frames));
  if (node.selfSize === 0) return below;
  const count = Math.max(1, Math.round(node.selfSize / HEAP_SAMPLE_BYTES));
  return [{ frames, values: [count, node.selfSize], thread: THREAD }, ...below];
}

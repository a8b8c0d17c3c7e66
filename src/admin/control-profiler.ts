// V8's profiles of the control thread, as pprof reads them.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import type Inspector from 'node:inspector';
import type { HeapProfiler, Profiler, Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { encodeProfile, type ProfileSample } from './pprof.js';

const HEAP_SAMPLE_BYTES = 512 * 1024;

/** Its calls to the inspector of its own thread end before they return. */
export class ControlProfiler {
  readonly #path: string;
  #cpu: Session | undefined;
  #heap: Session | undefined;

  /** `path`: the file that CPU profiles are written to. */
  constructor(path: string) {
    this.#path = path;
  }

  /** False when it runs already, or when the file cannot be written. */
  startCpu(): boolean {
    if (this.#cpu) return false;
    try {
      closeSync(openSync(this.#path, 'w'));
    } catch {
      return false;
    }
    this.#cpu = openSession();
    this.#cpu.post('Profiler.enable');
    this.#cpu.post('Profiler.start');
    return true;
  }

  /** Writes the profile; true also when none was running. */
  stopCpu(): boolean {
    const session = this.#cpu;
    this.#cpu = undefined;
    let isWritten = true;
    session?.post('Profiler.stop', (error, result) => {
      isWritten = !error && this.#write(result.profile);
    });
    session?.disconnect();
    return isWritten;
  }

  /** What was allocated since the first call and is still there. */
  heapDump(): Buffer {
    if (!this.#heap) {
      this.#heap = openSession();
      this.#heap.post('HeapProfiler.startSampling', { samplingInterval: HEAP_SAMPLE_BYTES });
    }
    let samples: ProfileSample[] = [];
    this.#heap.post('HeapProfiler.getSamplingProfile', (error, result) => {
      if (!error) samples = heapSamples(result.profile.head, []);
    });
    return encodeProfile({
      kinds: [
        ['objects', 'count'],
        ['space', 'bytes'],
      ],
      samples,
      period: HEAP_SAMPLE_BYTES,
      periodKind: ['space', 'bytes'],
      durationNanos: 0,
    });
  }

  #write(profile: Profiler.Profile): boolean {
    try {
      writeFileSync(this.#path, encodeCpu(profile));
      return true;
    } catch {
      return false;
    }
  }
}

/** Inner first. */
type Frames = ProfileSample['frames'];

function encodeCpu({ nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile) {
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
    const sum = spent.get(id) ?? { count: 0, nanos: 0 };
    sum.count++;
    // The time until the next sample.
    sum.nanos += Math.max(0, timeDeltas[index + 1] ?? 0) * 1000;
    spent.set(id, sum);
  }
  const durationNanos = (endTime - startTime) * 1000;
  return encodeProfile({
    kinds: [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ],
    samples: [...spent].map(([id, { count, nanos }]) => ({
      frames: stackOf(id),
      values: [count, nanos],
    })),
    period: Math.round(durationNanos / Math.max(1, samples.length)),
    periodKind: ['cpu', 'nanoseconds'],
    durationNanos,
  });
}

function heapSamples(node: HeapProfiler.SamplingHeapProfileNode, outer: Frames): ProfileSample[] {
  const frames = [node.callFrame, ...outer];
  const below = node.children.flatMap((child) => heapSamples(child, frames));
  if (node.selfSize === 0) return below;
  const count = Math.max(1, Math.round(node.selfSize / HEAP_SAMPLE_BYTES));
  return [{ frames, values: [count, node.selfSize] }, ...below];
}

function openSession(): Session {
  // Loaded only for this: it takes long.
  const inspector = createRequire(import.meta.url)('node:inspector') as typeof Inspector;
  const session = new inspector.Session();
  session.connect();
  return session;
}

// The profilers of the admin interface: what they write and where.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import type { NativeProxy } from '../../native.js';
import { ControlCpuProfile, ControlHeapProfile, encodeHeap } from './control-profiler.js';
import { encodeProfile, type ProfileSample } from './pprof.js';
import { WORKER_SAMPLE_NANOS, WorkerProfiler } from './worker-profiler.js';

interface CpuProfile {
  readonly control: ControlCpuProfile;
  readonly workers: WorkerProfiler;
  readonly beganMs: number;
}

type HeapUse = 'heapprofiler' | 'allocprofiler' | 'dump';

/** Undefined, or why the file cannot be written; then nothing has changed. */
type Failure = string | undefined;

export class Profilers {
  readonly #native: NativeProxy;
  readonly #path: string;
  #cpu: CpuProfile | undefined;
  /** V8 has one of the heap. That of a dump goes on until somebody wants another. */
  #heap: { readonly of: HeapUse; readonly profile: ControlHeapProfile } | undefined;

  /** `path`: the file that profiles are written to. */
  constructor(native: NativeProxy, path: string) {
    this.#native = native;
    this.#path = path;
  }

  /** Who was asked to profile the heap, and was not ended. */
  get heapUse(): HeapUse | undefined {
    return this.#heap?.of;
  }

  /** Changes nothing when it runs already. */
  startCpu(): Failure {
    if (this.#cpu) return undefined;
    const failure = this.#whyNotWritable();
    if (failure !== undefined) return failure;
    this.#cpu = {
      workers: new WorkerProfiler(this.#native),
      control: new ControlCpuProfile(),
      beganMs: Date.now(),
    };
    return undefined;
  }

  /** Writes the profile of all threads, if one was running. */
  stopCpu(): Failure {
    const profile = this.#cpu;
    if (!profile) return undefined;
    const failure = this.#whyNotWritable();
    if (failure !== undefined) return failure;
    this.#cpu = undefined;
    const samples = [...profile.control.stop(), ...profile.workers.stop()];
    return this.#write(
      encodeProfile({
        kinds: [
          ['samples', 'count'],
          ['cpu', 'nanoseconds'],
        ],
        samples,
        periodKind: ['cpu', 'nanoseconds'],
        period: WORKER_SAMPLE_NANOS,
        durationNanos: (Date.now() - profile.beganMs) * 1e6,
      }),
    );
  }

  startHeap(): Failure {
    const failure = this.#whyNotWritable();
    if (failure === undefined) this.#startHeap('heapprofiler');
    return failure;
  }

  /** Writes the profile. */
  stopHeap(): Failure {
    return this.#whyNotWritable() ?? this.#write(this.#stopHeap());
  }

  startAllocations(): void {
    this.#startHeap('allocprofiler');
  }

  /** The profile. */
  stopAllocations(): Buffer {
    return this.#stopHeap();
  }

  /** Of all that is there; with its origins from the first call on, or from /heapprofiler on. */
  heapDump(): Buffer {
    const { of, profile } = this.#heap ?? this.#startHeap('dump');
    // Who profiles allocations does not know what is left of them.
    if (of === 'allocprofiler') return encodeHeap(this.#unsampled(0), 0);
    return profile.encode((sampledBytes) => this.#unsampled(sampledBytes));
  }

  #startHeap(of: HeapUse): { of: HeapUse; profile: ControlHeapProfile } {
    this.#heap?.profile.stop();
    const profile = new ControlHeapProfile(of === 'allocprofiler' ? 'all' : 'what stays');
    this.#heap = { of, profile };
    return this.#heap;
  }

  #stopHeap(): Buffer {
    const bytes = this.#heap?.profile.encode() ?? Buffer.alloc(0);
    this.#heap?.profile.stop();
    this.#heap = undefined;
    return bytes;
  }

  #unsampled(sampledBytes: number): ProfileSample[] {
    const earlierBytes = Math.max(0, process.memoryUsage().heapUsed - sampledBytes);
    const sampleOf = (functionName: string, bytes: number, thread: string): ProfileSample => ({
      frames: [{ functionName, url: '', lineNumber: 0 }],
      values: [1, bytes],
      thread,
    });
    return [
      sampleOf('(allocated by JavaScript before the profile began)', earlierBytes, 'control'),
      sampleOf('(allocated by native code)', this.#native.memory().allocated, 'all'),
    ];
  }

  #whyNotWritable(): Failure {
    return this.#try(() => closeSync(openSync(this.#path, 'a')));
  }

  #write(bytes: Buffer): Failure {
    return this.#try(() => writeFileSync(this.#path, bytes));
  }

  #try(act: () => void): Failure {
    try {
      act();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

// The profilers of the admin interface: what they write and where.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import type { NativeProxy } from '../native.js';
import { ControlCpuProfile, ControlHeapProfile } from './control-profiler.js';
import { encodeProfile } from './pprof.js';
import { WORKER_SAMPLE_NANOS, WorkerProfiler } from './worker-profiler.js';

interface CpuProfile {
  readonly control: ControlCpuProfile;
  readonly workers: WorkerProfiler;
  readonly beganMs: number;
}

export class Profilers {
  readonly #native: NativeProxy;
  readonly #path: string;
  #cpu: CpuProfile | undefined;
  /** That of /heapprofiler. */
  #heap: ControlHeapProfile | undefined;
  /** That of /heap_dump: it goes on from the first call. */
  #dump: ControlHeapProfile | undefined;

  /** `path`: the file that profiles are written to. */
  constructor(native: NativeProxy, path: string) {
    this.#native = native;
    this.#path = path;
  }

  get isHeapRunning(): boolean {
    return this.#heap !== undefined;
  }

  /** True also when it runs already; false when the file cannot be written. */
  startCpu(): boolean {
    if (this.#cpu) return true;
    if (!this.#canWrite()) return false;
    this.#cpu = {
      workers: new WorkerProfiler(this.#native),
      control: new ControlCpuProfile(),
      beganMs: Date.now(),
    };
    return true;
  }

  /** Writes the profile of all threads; true also when none was running. */
  stopCpu(): boolean {
    const profile = this.#cpu;
    this.#cpu = undefined;
    if (!profile) return true;
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

  /** False when the file cannot be written. */
  startHeap(): boolean {
    if (!this.#canWrite()) return false;
    this.#heap = new ControlHeapProfile();
    return true;
  }

  /** Writes the profile. */
  stopHeap(): boolean {
    const profile = this.#heap;
    this.#heap = undefined;
    if (!profile) return true;
    const bytes = profile.encode();
    profile.stop();
    return this.#write(bytes);
  }

  /** Of what is there since the profiler of the heap was started, or else since the first dump. */
  heapDump(): Buffer {
    const profile = this.#heap ?? (this.#dump ??= new ControlHeapProfile());
    return profile.encode();
  }

  #canWrite(): boolean {
    try {
      closeSync(openSync(this.#path, 'w'));
      return true;
    } catch {
      return false;
    }
  }

  #write(bytes: Buffer): boolean {
    try {
      writeFileSync(this.#path, bytes);
      return true;
    } catch {
      return false;
    }
  }
}

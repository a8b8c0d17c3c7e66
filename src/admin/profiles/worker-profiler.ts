// A CPU profile of the worker threads: the data plane samples, this adds up and names.
import type { NativeProxy } from '../../native.js';
import { nameAddresses } from './native-symbols.js';
import type { ProfileSample } from './pprof.js';
import { startInterval } from '../../base/timers.js';

/** Before the data plane's room for samples is full. */
const READ_INTERVAL_MS = 1000;
export const WORKER_SAMPLE_NANOS = 10_000_000;

interface Stack {
  readonly worker: number;
  /** Inner first. */
  readonly addresses: readonly number[];
  count: number;
}

export class WorkerProfiler {
  readonly #native: NativeProxy;
  readonly #stacks = new Map<string, Stack>();
  readonly #timer: NodeJS.Timeout;

  /** Starts at once. */
  constructor(native: NativeProxy) {
    this.#native = native;
    native.startCpuProfile();
    this.#timer = startInterval(() => this.#add(native.readCpuProfile()), READ_INTERVAL_MS).unref();
  }

  /** Ends it. The values: samples, nanoseconds. */
  stop(): readonly ProfileSample[] {
    clearInterval(this.#timer);
    this.#add(this.#native.stopCpuProfile());
    const stacks = [...this.#stacks.values()];
    const frames = nameAddresses(new Set(stacks.flatMap(({ addresses }) => addresses)));
    return stacks.map(({ worker, addresses, count }) => ({
      frames: addresses.flatMap((address) => frames.get(address) ?? []),
      values: [count, count * WORKER_SAMPLE_NANOS],
      thread: `worker_${worker}`,
    }));
  }

  #add(words: Float64Array): void {
    for (let at = 0; at < words.length;) {
      const [worker = 0, depth = 0] = words.subarray(at, at + 2);
      const addresses = [...words.subarray(at + 2, at + 2 + depth)];
      at += 2 + depth;
      const key = `${worker} ${addresses.join(' ')}`;
      const stack = this.#stacks.get(key);
      if (stack) stack.count++;
      else this.#stacks.set(key, { worker, addresses, count: 1 });
    }
  }
}

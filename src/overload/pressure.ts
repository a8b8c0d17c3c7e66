// How a resource monitor looks at its resource: a pressure of 0 (idle) to 1 (used up), read again and again.
import { readFileSync } from 'node:fs';
import type { MonitorPlan } from '../plan/extension-plans.js';
import { CgroupFiles } from './cgroup-files.js';
import { containerCpu, hostCpu } from './cpu.js';

/** Throws an error that says why there is none now. */
export type ReadPressure = () => number;

export interface PressureHost {
  /** Of the runtime, as it is now. */
  number(key: string, fallback: number): number;
  /** What this process has of the machine's memory, in bytes. */
  residentBytes(): number;
  /** For tests: another place than /. */
  readonly root?: string;
}

/** Undefined: not read at intervals. Throws where the machine has not what is to be watched. */
export function pressureOf(plan: MonitorPlan, host: PressureHost): ReadPressure | undefined {
  switch (plan.kind) {
    case 'connections':
      return undefined;
    case 'heap':
      return () => host.residentBytes() / maxHeapBytes(plan, host);
    case 'injected':
      return () => injectedPressure(plan.file);
    case 'cgroup-memory':
      return cgroupMemory(new CgroupFiles(host.root), plan.maxBytes);
    case 'cpu':
      return plan.of === 'host' ? hostCpu(host.root) : containerCpu(new CgroupFiles(host.root));
  }
}

function maxHeapBytes(plan: MonitorPlan & { kind: 'heap' }, host: PressureHost): number {
  const { maxBytes, runtimeKey } = plan;
  const bytes = runtimeKey ? host.number(runtimeKey, maxBytes) : maxBytes;
  if (bytes <= 0) throw new Error('max heap size must be greater than 0');
  return bytes;
}

function injectedPressure(file: string): number {
  const text = readFileSync(file, 'utf8').trim();
  const pressure = text === '' ? Number.NaN : Number(text);
  if (Number.isNaN(pressure)) throw new Error('failed to parse injected resource pressure');
  if (pressure < 0 || pressure > 1) throw new Error('pressure out of range');
  return pressure;
}

function cgroupMemory(files: CgroupFiles, maxBytes: number | undefined): ReadPressure {
  const memory = files.memory();
  if (!memory) throw new Error('No supported cgroup memory implementation found');
  return () => {
    const limit = Math.min(memory.limitBytes(), maxBytes ?? Infinity);
    // A group without a limit is never under pressure.
    return limit === Infinity ? 0 : memory.usedBytes() / limit;
  };
}

// How a resource monitor looks at its resource: a pressure of 0 (idle) to 1 (used up), read again and again.
import { readFileSync } from 'node:fs';
import type { MonitorPlan } from '../plan/extension-plans.js';
import { CgroupFiles } from './cgroup-files.js';
import { containerCpu, hostCpu } from './cpu.js';

export interface ReadPressure {
  /** Throws an error that says why there is none now. */
  (): number;
  /** It is not asked any more. */
  close?(): void;
}

export interface PressureHost {
  /** Of the runtime, as it is now. */
  number(key: string, fallback: number): number;
  /** What this process has of the machine's memory, in bytes. */
  residentBytes(): number;
  /** Tells of each file that takes the place of `path`. Throws without its folder. */
  watch(path: string, onChange: () => void): { close(): void };
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
      return injectedPressure(plan.file, host);
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

/** As the real server, which looks again only once another file has been moved there. */
function injectedPressure(file: string, host: PressureHost): ReadPressure {
  let pressure: number | undefined;
  let failure: unknown;
  let isFresh = true;
  const watch = host.watch(file, () => {
    isFresh = true;
  });
  const look = (): void => {
    try {
      pressure = parsePressure(readFileSync(file, 'utf8'));
    } catch (error) {
      pressure = undefined;
      failure = error;
    }
  };
  const read = (): number => {
    if (isFresh) {
      isFresh = false;
      look();
    }
    if (pressure === undefined) throw failure;
    return pressure;
  };
  return Object.assign(read, { close: () => watch.close() });
}

// With the blanks of ASCII around it, as the real server takes it.
const NUMBER = /^[ \t-\r]*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)[ \t-\r]*$/i;
const HEX_NUMBER =
  /^[ \t-\r]*([+-]?)0x(?=\.?[\da-f])([\da-f]*)\.?([\da-f]*)(?:p([+-]?\d+))?[ \t-\r]*$/i;

function parsePressure(text: string): number {
  const pressure = parseNumber(text);
  if (pressure === undefined) throw new Error('failed to parse injected resource pressure');
  if (pressure < 0 || pressure > 1) throw new Error('pressure out of range');
  return pressure;
}

function parseNumber(text: string): number | undefined {
  const decimal = NUMBER.exec(text)?.[1];
  if (decimal !== undefined) return Number(decimal);
  const hex = HEX_NUMBER.exec(text);
  if (!hex) return undefined;
  const [, sign, whole = '', fraction = '', exponent = 0] = hex;
  const digits = parseInt(whole + fraction, 16);
  return (sign === '-' ? -digits : digits) * 2 ** (Number(exponent) - 4 * fraction.length);
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

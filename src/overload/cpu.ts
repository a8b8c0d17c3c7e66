// How busy processors are: what they did since the last look, smoothed as the real server does it.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { monotonicMs } from '../base/clock.js';
import type { CgroupFiles } from './cgroup-files.js';

/** How much of a new value shows at once. */
const NEW_SHARE = 0.05;

/** `work` of `total`, both of which only grow. */
interface CpuTimes {
  readonly work: number;
  readonly total: number;
}

/** The machine's. Throws where it does not say. */
export function hostCpu(root = '/'): () => number {
  const file = join(root, 'proc/stat');
  return smoothed(1, () => hostTimes(readFileSync(file, 'utf8')));
}

/** Of what the container may use. Throws where there is no cgroup that says. */
export function containerCpu(files: CgroupFiles, nowMs = monotonicMs): () => number {
  const cpu = files.cpu();
  if (!cpu) throw new Error('No supported cgroup CPU implementation found');
  let total = 0;
  let lastMs = nowMs();
  const most = cpu.mayUseMore ? Infinity : 1;
  return smoothed(most, () => {
    const now = nowMs();
    total += (now - lastMs) * (cpu.processors() ?? availableParallelism());
    lastMs = now;
    return { work: cpu.usedMs(), total };
  });
}

/** Of the first line: user, nice and system time are work, and with the idle time all there is. */
function hostTimes(text: string): CpuTimes {
  const numbers = /^cpu +(\d+) (\d+) (\d+) (\d+)/.exec(text)?.slice(1).map(Number);
  if (!numbers) throw new Error("/proc/stat has no line of all processors ('cpu ')");
  const [user = 0, nice = 0, system = 0, idle = 0] = numbers;
  const work = user + nice + system;
  return { work, total: work + idle };
}

/** `most`: of a share, before it is smoothed. */
function smoothed(most: number, read: () => CpuTimes): () => number {
  let last = read();
  let pressure = 0;
  return () => {
    const now = read();
    const work = now.work - last.work;
    const total = now.total - last.total;
    if (work < 0 || total < 0) throw new Error('the processors count backwards');
    last = now;
    if (total === 0) return pressure;
    const share = Math.min(most, work / total);
    pressure = share * NEW_SHARE + pressure * (1 - NEW_SHARE);
    return pressure;
  };
}

// What a result was measured on.
import { cpus, release, totalmem } from 'node:os';

export function describeMachine() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cpuCount: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.version,
  };
}

export function machineLine() {
  const machine = describeMachine();
  const gibibytes = Math.round(machine.memoryBytes / 2 ** 30);
  return `${machine.cpuCount} × ${machine.cpu}, ${gibibytes} GiB, Linux ${machine.kernel}, Node ${machine.node}`;
}

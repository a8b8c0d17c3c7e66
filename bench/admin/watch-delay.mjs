// Loaded before fairlead (node --import): how long the control thread's turns were held up. Writes
// {"maxMs", "p99Ms", "workMs", "gcMs"} to $FAIRLEAD_BENCH_DELAY at SIGUSR2, and begins anew. `workMs` is the
// longest that the thread's own work took: without its waits for a processor that others had; `gcMs`
// the longest pause for garbage.
import { openSync, readSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

// Nanoseconds on a processor, and of waiting for one; of the main thread.
const schedule = openSync('/proc/self/schedstat');
const buffer = Buffer.alloc(128);
function waitedMs() {
  const length = readSync(schedule, buffer, 0, buffer.length, 0);
  return Number(buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6;
}

let workMs = 0;
let lastMs = performance.now();
let lastWaitedMs = waitedMs();
setInterval(() => {
  const nowMs = performance.now();
  const nowWaitedMs = waitedMs();
  workMs = Math.max(workMs, nowMs - lastMs - (nowWaitedMs - lastWaitedMs) - RESOLUTION_MS);
  lastMs = nowMs;
  lastWaitedMs = nowWaitedMs;
}, RESOLUTION_MS).unref();

let gcMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) gcMs = Math.max(gcMs, duration);
}).observe({ entryTypes: ['gc'] });

process.on('SIGUSR2', () => {
  const ms = (nanoseconds) => nanoseconds / 1e6;
  const found = { maxMs: ms(delay.max), p99Ms: ms(delay.percentile(99)), workMs, gcMs };
  writeFileSync(process.env.FAIRLEAD_BENCH_DELAY, JSON.stringify(found));
  delay.reset();
  workMs = 0;
  gcMs = 0;
});

// Loaded before fairlead (node --import): how long the control thread's turns were held up. Writes
// {"maxMs", "p99Ms"} to $FAIRLEAD_BENCH_DELAY at SIGUSR2, and begins anew.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
process.on('SIGUSR2', () => {
  const ms = (nanoseconds) => nanoseconds / 1e6;
  const text = JSON.stringify({ maxMs: ms(delay.max), p99Ms: ms(delay.percentile(99)) });
  writeFileSync(process.env.FAIRLEAD_BENCH_DELAY, text);
  delay.reset();
});

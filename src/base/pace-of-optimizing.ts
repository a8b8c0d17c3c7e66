// When V8 optimizes what runs often.
import { v8 } from './late-modules.js';

/** Bytes of bytecode that a function runs through before V8 looks at it, of which its own are 67,584. */
const BEFORE_A_LOOK = 1_000_000;
/** That of Node 20. Later ones compile cheaply first, optimize later by themselves, and do not know the flag. */
const EAGER_V8 = /^11\./;

/**
 * The control thread works in bursts: thousands of resources that come at once are done with before V8 has
 * optimized what takes them, and that costs an eighth of all CPU that they take, beside the threads that forward.
 * What runs for longer is optimized still, a little later. Of the process: for one of one's own.
 */
export function optimizeLater(): void {
  if (!EAGER_V8.test(process.versions.v8)) return;
  v8().setFlagsFromString(`--interrupt-budget=${BEFORE_A_LOOK}`);
}

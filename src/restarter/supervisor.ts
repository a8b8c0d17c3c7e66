// Who serves, who is to take over, who has been taken over from, and what follows when one of them ends.
// Exactly one process serves at a time; what goes wrong with a successor leaves it serving.
import type { Tell } from '../service-manager.js';
import type { Child, ChildEnd, ChildEvents } from './child.js';
import type { WriteLog } from './log.js';
import { startTimeout } from '../base/timers.js';

export interface SupervisorOptions {
  /** 0: for ever. */
  readonly readyTimeoutMs: number;
  readonly termWaitMs: number;
  /** Within the time of the window. */
  readonly maxRestarts: number;
  readonly restartWindowMs: number;
}

export interface SupervisorHost {
  launch(epoch: number, events: ChildEvents): Child;
  readonly log: WriteLog;
  /** The service manager's ear. */
  readonly tell: Tell;
  monotonicMs(): number;
}

interface Member {
  readonly epoch: number;
  readonly startedMs: number;
  child: Child;
  role: 'starting' | 'serving' | 'leaving';
  /** Took too long to become LIVE, and is to end. */
  isGivenUp: boolean;
  /** Logs were rotated while it started. */
  hasToReopen: boolean;
  /** It was taken over from, and has said since that it serves again. */
  hasReturned: boolean;
  timer?: NodeJS.Timeout;
}

/** A predecessor whose successor has died serves again within milliseconds, or not at all. */
const RETURN_MS = 5000;
/** Ended only by force. */
const KILLED_CODE = 1;

export class Supervisor {
  /** Resolves with the restarter's exit code when no process is left. */
  readonly ended: Promise<number>;
  readonly #options: SupervisorOptions;
  readonly #host: SupervisorHost;
  readonly #members = new Set<Member>();
  #serving: Member | undefined;
  #starting: Member | undefined;
  /** The one that served has died; a predecessor may serve again. Then: what it ended with. */
  #lost: ChildEnd | undefined;
  #returnTimer: NodeJS.Timeout | undefined;
  #isRestartWanted = false;
  /** All are being killed; then it begins anew with epoch 0. */
  #beginsAnew = false;
  #crashTimesMs: number[] = [];
  #endCode: number | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #resolveEnded: (code: number) => void = () => undefined;

  constructor(options: SupervisorOptions, host: SupervisorHost) {
    this.#options = options;
    this.#host = host;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  /** Epoch 0. */
  start(): void {
    this.#launch();
  }

  /** The next epoch; when one is just starting, the one after it. */
  restart(): void {
    if (this.#endCode !== undefined) return;
    if (!this.#serving || this.#starting) {
      this.#isRestartWanted = true;
      this.#host.log('info', 'a process is just starting: another restart follows it');
      return;
    }
    this.#isRestartWanted = false;
    const microseconds = Math.round(this.#host.monotonicMs() * 1000);
    this.#host.tell('RELOADING=1', `MONOTONIC_USEC=${microseconds}`);
    this.#launch();
  }

  /** Logs have been rotated. One that starts hears of it once it is LIVE: before, it might not bear it. */
  reopenLogs(): void {
    for (const member of this.#members) {
      if (member.role === 'starting') member.hasToReopen = true;
      else member.child.kill('SIGUSR1');
    }
  }

  /** Ends all processes; called again, at once. */
  end(): void {
    if (this.#endCode === undefined) {
      this.#beginEnd(0);
      return;
    }
    this.#host.log('warning', 'asked to end a second time: killing what is left');
    this.#killRest();
  }

  // ---- starting ----

  #launch(): void {
    const { log, tell } = this.#host;
    const epoch = (this.#serving?.epoch ?? -1) + 1;
    const member: Member = {
      epoch,
      startedMs: this.#host.monotonicMs(),
      role: 'starting',
      isGivenUp: false,
      hasToReopen: false,
      hasReturned: false,
      child: this.#host.launch(epoch, {
        onReady: () => this.#onReady(member),
        onEnd: (end) => this.#onEnd(member, end),
      }),
    };
    this.#members.add(member);
    this.#starting = member;
    if (member.child.pid !== undefined) log('info', `${nameOf(member)} is starting`);
    tell(`STATUS=${nameOf(member)} is starting`);
    const { readyTimeoutMs } = this.#options;
    if (readyTimeoutMs > 0) {
      member.timer = startTimeout(() => this.#giveUp(member), readyTimeoutMs);
    }
  }

  #giveUp(member: Member): void {
    const seconds = this.#options.readyTimeoutMs / 1000;
    const hint = '--ready-after-s and --ready-address are for commands that do not say so';
    this.#host.log(
      'error',
      `${nameOf(member)} did not become LIVE within ${seconds} s: ending it (${hint})`,
    );
    member.isGivenUp = true;
    member.child.kill('SIGTERM');
    member.timer = startTimeout(() => member.child.kill('SIGKILL'), this.#options.termWaitMs);
  }

  #onReady(member: Member): void {
    if (this.#endCode !== undefined || this.#beginsAnew || member.isGivenUp) return;
    if (member.role === 'starting') {
      clearTimeout(member.timer);
      this.#starting = undefined;
      if (this.#serving) this.#serving.role = 'leaving';
      for (const other of this.#members) other.hasReturned = false;
      const tookMs = Math.round(this.#host.monotonicMs() - member.startedMs);
      this.#host.log('info', `${nameOf(member)} is LIVE after ${tookMs} ms`);
      this.#serve(member);
    } else if (member.role === 'leaving') {
      member.hasReturned = true;
      // It may know of its successor's end before this process does.
      if (this.#lost && !this.#starting) this.#serveAgain(member);
    }
  }

  #serveAgain(member: Member): void {
    this.#host.log('warning', `${nameOf(member)} serves again`);
    this.#serve(member);
  }

  #serve(member: Member): void {
    member.role = 'serving';
    this.#serving = member;
    this.#lost = undefined;
    clearTimeout(this.#returnTimer);
    this.#host.tell('READY=1', `STATUS=${nameOf(member)} serves`);
    if (member.hasToReopen) member.child.kill('SIGUSR1');
    if (this.#isRestartWanted) this.restart();
  }

  // ---- ends of processes ----

  #onEnd(member: Member, end: ChildEnd): void {
    this.#members.delete(member);
    clearTimeout(member.timer);
    const isExpected = end.code === 0 || this.#endCode !== undefined || this.#beginsAnew;
    const suffix = member.role === 'starting' ? ' before it was LIVE' : '';
    const level = isExpected ? 'info' : member.role === 'leaving' ? 'warning' : 'error';
    this.#host.log(level, `${nameOf(member)} ${end.how}${suffix}`);
    if (this.#starting === member) this.#starting = undefined;
    if (this.#serving === member) this.#serving = undefined;
    if (this.#endCode !== undefined || this.#beginsAnew) {
      if (this.#members.size === 0) this.#onAllEnded();
      return;
    }
    if (member.role === 'starting') this.#onStartFailed(member, end);
    else if (member.role === 'serving') this.#onServingEnded(end);
    else if (this.#lost && !this.#starting) this.#awaitReturn(this.#lost);
  }

  #onStartFailed({ epoch }: Member, end: ChildEnd): void {
    const serving = this.#serving;
    if (serving) {
      const outcome = `${nameOf(serving)} serves on; epoch ${epoch} did not become LIVE`;
      this.#host.log('warning', outcome);
      this.#host.tell('READY=1', `STATUS=${outcome}`);
      if (this.#isRestartWanted) this.restart();
    } else if (this.#lost) {
      this.#awaitReturn(this.#lost);
    } else {
      this.#beginEnd(end.code);
    }
  }

  #onServingEnded(end: ChildEnd): void {
    if (this.#starting) {
      // It takes over from nobody, or fails.
      this.#lost = end;
      return;
    }
    // On purpose, by whatever means: its predecessors have no purpose any more either.
    if (end.code === 0) this.#beginEnd(0);
    else this.#awaitReturn(end);
  }

  /** A predecessor that still lives says so when it serves again. */
  #awaitReturn(end: ChildEnd): void {
    this.#lost = end;
    clearTimeout(this.#returnTimer);
    const returned = [...this.#members].find(({ hasReturned }) => hasReturned);
    if (returned) {
      this.#serveAgain(returned);
    } else if ([...this.#members].some(({ child }) => child.speaks)) {
      this.#returnTimer = startTimeout(() => this.#onLost(end), RETURN_MS);
    } else {
      this.#onLost(end);
    }
  }

  /** Nobody serves. */
  #onLost(end: ChildEnd): void {
    this.#lost = undefined;
    if (!this.#mayBeginAnew()) {
      this.#beginEnd(end.code, 'SIGKILL');
      return;
    }
    this.#host.log('warning', 'nobody serves any more: beginning anew with epoch 0');
    this.#beginsAnew = true;
    this.#killRest();
    if (this.#members.size === 0) this.#onAllEnded();
  }

  #mayBeginAnew(): boolean {
    const { maxRestarts, restartWindowMs } = this.#options;
    const nowMs = this.#host.monotonicMs();
    this.#crashTimesMs = this.#crashTimesMs.filter((timeMs) => nowMs - timeMs < restartWindowMs);
    this.#crashTimesMs.push(nowMs);
    return this.#crashTimesMs.length <= maxRestarts;
  }

  // ---- the end ----

  #beginEnd(code: number, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): void {
    this.#endCode = code;
    clearTimeout(this.#returnTimer);
    this.#host.tell('STOPPING=1', 'STATUS=ending');
    for (const member of this.#members) {
      clearTimeout(member.timer);
      this.#host.log('info', `sending ${signal} to ${nameOf(member)}`);
      member.child.kill(signal);
    }
    if (this.#members.size === 0) {
      this.#onAllEnded();
    } else {
      this.#killTimer = startTimeout(() => this.#killRest(), this.#options.termWaitMs);
    }
  }

  #killRest(): void {
    for (const member of this.#members) {
      this.#host.log('warning', `killing ${nameOf(member)}`);
      member.child.kill('SIGKILL');
    }
    if (this.#endCode === 0) this.#endCode = KILLED_CODE;
  }

  #onAllEnded(): void {
    if (this.#endCode !== undefined) {
      clearTimeout(this.#killTimer);
      this.#resolveEnded(this.#endCode);
      return;
    }
    this.#beginsAnew = false;
    this.#isRestartWanted = false;
    this.#launch();
  }
}

function nameOf({ epoch, child }: Member): string {
  return child.pid === undefined ? `epoch ${epoch}` : `epoch ${epoch} (pid ${child.pid})`;
}

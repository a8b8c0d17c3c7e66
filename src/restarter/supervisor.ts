// The processes of one base id, from the first epoch to the last: which of them serves, which one
// follows, and what the end of one means for the others.
import { spawn, type ChildProcess } from 'node:child_process';
import type { RestarterCommand } from './command.js';

/** One that was LIVE for so long is no failing start any more. */
const STABLE_MS = 60_000;

interface Member {
  readonly epoch: number;
  readonly process: ChildProcess;
  isLive: boolean;
  liveSinceMs: number;
}

export interface SupervisorHost {
  log(message: string): void;
  /** Of the supervisor of this one: "READY=1" and the like. */
  notify(...lines: readonly string[]): void;
  /** Where processes say that they are ready. */
  readonly notifySocket: string;
}

export class Supervisor {
  /** Resolves with the exit code once no process is left. */
  readonly ended: Promise<number>;
  readonly #command: RestarterCommand;
  readonly #host: SupervisorHost;
  #members: Member[] = [];
  #restarts = 0;
  #isEnding = false;
  #exitCode = 0;
  #finish: (code: number) => void = () => undefined;

  constructor(command: RestarterCommand, host: SupervisorHost) {
    this.#command = command;
    this.#host = host;
    this.ended = new Promise((resolve) => (this.#finish = resolve));
  }

  /** Starts the epoch after the one that serves; 0 where none does. */
  startNext(): void {
    if (this.#isEnding) return;
    const newest = this.#members.at(-1);
    if (newest && !newest.isLive) {
      this.#host.log(`epoch ${newest.epoch} is still starting: there is no other one yet`);
      return;
    }
    const epoch = newest ? newest.epoch + 1 : 0;
    if (newest)
      this.#host.notify('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
    const { program, argumentsFor } = this.#command;
    this.#host.log(`starting epoch ${epoch}`);
    const child = spawn(program, argumentsFor(epoch), {
      stdio: 'inherit',
      env: {
        ...process.env,
        RESTART_EPOCH: String(epoch),
        NOTIFY_SOCKET: this.#host.notifySocket,
      },
    });
    const member: Member = { epoch, process: child, isLive: false, liveSinceMs: 0 };
    this.#members.push(member);
    child.once('error', (error) => {
      this.#host.log(`cannot start ${program}: ${error.message}`);
      this.#onEnd(member, 'could not be started');
    });
    child.once('exit', (code, signal) => {
      this.#onEnd(member, code === 0 ? '' : `ended with ${signal ?? `exit code ${code}`}`);
    });
  }

  /** The process that started last accepts connections. */
  onReady(): void {
    const newest = this.#members.at(-1);
    if (!newest || newest.isLive) return;
    newest.isLive = true;
    newest.liveSinceMs = Date.now();
    this.#host.log(`epoch ${newest.epoch} is LIVE`);
    this.#host.notify('READY=1', `MAINPID=${process.pid}`, `STATUS=epoch ${newest.epoch} serves`);
  }

  /** To all processes. */
  pass(signal: NodeJS.Signals): void {
    for (const { process: child } of this.#members) child.kill(signal);
  }

  /** Ends all processes, those that do not end in time by force. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#host.notify('STOPPING=1');
    this.pass('SIGTERM');
    setTimeout(() => {
      for (const { epoch } of this.#members)
        this.#host.log(`epoch ${epoch} does not end: killing it`);
      this.pass('SIGKILL');
    }, this.#command.terminationWaitMs).unref();
    this.#finishIfEmpty();
  }

  /** `failure`: empty for a process that ended as it should. */
  #onEnd(member: Member, failure: string): void {
    if (!this.#members.includes(member)) return;
    const wasNewest = this.#members.at(-1) === member;
    this.#members = this.#members.filter((other) => other !== member);
    if (failure !== '') this.#host.log(`epoch ${member.epoch} ${failure}`);
    const newest = this.#members.at(-1);
    if (!this.#isEnding && failure !== '' && !newest) {
      this.#startAnew(member);
      return;
    }
    if (!this.#isEnding && wasNewest && newest) {
      // The one before it notices that it has no successor, and serves again.
      this.#host.log(`epoch ${newest.epoch} serves on`);
      this.#host.notify('READY=1', `STATUS=epoch ${newest.epoch} serves`);
    }
    this.#finishIfEmpty();
  }

  /** Nobody is left that serves. */
  #startAnew(last: Member): void {
    if (last.isLive && Date.now() - last.liveSinceMs > STABLE_MS) this.#restarts = 0;
    if (this.#restarts >= this.#command.maxRestarts) {
      this.#exitCode = 1;
      this.#finishIfEmpty();
      return;
    }
    this.#restarts += 1;
    this.#host.log(`restart ${this.#restarts} of ${this.#command.maxRestarts}`);
    this.startNext();
  }

  #finishIfEmpty(): void {
    if (this.#members.length > 0) return;
    this.#host.log('no process is left');
    this.#finish(this.#exitCode);
  }
}

// One process of the command, from its start to its end.
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { NOTIFY_FD, NOTIFY_SOCKET } from '../base/environment.js';
import { startImmediate } from '../base/timers.js';
import type { Command } from './command.js';
import { watchReadiness, type Readiness } from './readiness.js';

/** How it ended, in words, and the exit code that a shell would give it. */
export interface ChildEnd {
  readonly code: number;
  readonly how: string;
}

/** Called from the event loop only, never while the process is being started. */
export interface ChildEvents {
  /** It is LIVE: each time that it says so. */
  onReady(): void;
  onEnd(end: ChildEnd): void;
}

export interface Child {
  /** Undefined: it could not be started. */
  readonly pid: number | undefined;
  /** It says by itself when it is LIVE. */
  readonly speaks: boolean;
  kill(signal: NodeJS.Signals): void;
}

/** Of the descriptor after stdin, stdout and stderr. */
const CHANNEL_FD = 3;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export function startChild(
  command: Command,
  readiness: Readiness,
  epoch: number,
  events: ChildEvents,
): Child {
  try {
    return new RunningChild(command, readiness, epoch, events);
  } catch (error) {
    // Also where the system has no room for another process.
    startImmediate(() => events.onEnd(unstartable(command.file, error as NodeJS.ErrnoException)));
    return { pid: undefined, speaks: false, kill: () => undefined };
  }
}

class RunningChild implements Child {
  readonly #process: ChildProcess;
  #speaks = false;
  #hasEnded = false;

  constructor(command: Command, readiness: Readiness, epoch: number, events: ChildEvents) {
    const env: NodeJS.ProcessEnv = { ...process.env, RESTART_EPOCH: String(epoch) };
    env[NOTIFY_FD] = String(CHANNEL_FD);
    // The service manager is told by the restarter alone.
    delete env[NOTIFY_SOCKET];
    this.#process = spawn(command.file, command.arguments(epoch), {
      env,
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    });
    const stopWatching = watchReadiness(readiness, epoch, () => events.onReady());
    const end = (how: ChildEnd): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      stopWatching();
      events.onEnd(how);
    };
    this.#process.on('exit', (code, signal) => end(endOf(code, signal)));
    this.#process.on('error', (error) => {
      if (this.pid === undefined) end(unstartable(command.file, error));
    });
    this.#listen(() => {
      stopWatching();
      if (!this.#hasEnded) events.onReady();
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get speaks(): boolean {
    return this.#speaks;
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.#hasEnded) this.#process.kill(signal);
  }

  #listen(onReady: () => void): void {
    const channel = this.#process.stdio[CHANNEL_FD] as Readable;
    let rest = '';
    channel.setEncoding('utf8');
    channel.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      // What is no line is no message either.
      rest = (lines.pop() ?? '').slice(-LONGEST_LINE);
      for (const line of lines) {
        if (line !== 'READY=1') continue;
        this.#speaks = true;
        onReady();
      }
    });
    channel.on('error', () => undefined);
  }
}

const LONGEST_LINE = 1024;

function endOf(code: number | null, signal: NodeJS.Signals | null): ChildEnd {
  if (signal === null) return { code: code ?? 1, how: `exited with code ${code ?? 1}` };
  return { code: 128 + constants.signals[signal], how: `was killed by ${signal}` };
}

function unstartable(file: string, error: NodeJS.ErrnoException): ChildEnd {
  const isMissing = error.code === 'ENOENT';
  const why =
    isMissing && error.syscall?.startsWith('spawn')
      ? 'there is no such command'
      : error.code === 'EACCES'
        ? 'it is not executable'
        : error.message;
  return {
    code: isMissing ? NOT_FOUND : NOT_EXECUTABLE,
    how: `could not be started ('${file}': ${why})`,
  };
}

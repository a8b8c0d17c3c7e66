// Processes of a benchmark: started on given CPUs, ended by their ids, and asked what they used.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 5_000;
const MICROS_PER_TICK = 1e6 / 100; // USER_HZ, which Linux fixes at 100 for /proc.

/** Every process still running; ended with this one, whatever ends it. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

/**
 * @typedef {object} Started
 * @property {import('node:child_process').ChildProcess} child
 * @property {number} pid
 * @property {() => string} errors what it wrote to standard error
 * @property {() => Promise<void>} stop SIGTERM, then SIGKILL
 */

/**
 * Starts `command` on the CPUs of `cpus` ("0", "1-3"); on any without.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cpus?: string, env?: NodeJS.ProcessEnv, cwd?: string}} [options]
 * @returns {Started}
 */
export function startProcess(command, args, { cpus, env, cwd } = {}) {
  const [program, ...rest] =
    cpus === undefined ? [command, ...args] : ['taskset', '-c', cpus, command, ...args];
  const child = spawn(program, rest, {
    env: env ?? process.env,
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => (errors = (errors + text).slice(-8192)));
  child.stdout.resume();
  child.on('error', (error) => (errors += error.message));

  running.add(child);
  const ended = new Promise((resolve) => child.on('close', resolve));
  void ended.then(() => running.delete(child));

  return {
    child,
    pid: child.pid,
    errors: () => errors,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(killer);
    },
  };
}

/** Runs a program to its end and gives its standard output. */
export async function runProcess(command, args, options) {
  const started = startProcess(command, args, options);
  let output = '';
  started.child.stdout.on('data', (text) => (output += text));
  const code = await new Promise((resolve) => started.child.on('close', resolve));
  if (code !== 0)
    throw new Error(`${command} ended with ${code}: ${started.errors().trim() || output.trim()}`);
  return output;
}

/** The first line that a program prints. */
export function firstLine(started) {
  return new Promise((resolve, reject) => {
    let output = '';
    started.child.stdout.on('data', (text) => {
      output += text;
      const end = output.indexOf('\n');
      if (end >= 0) resolve(output.slice(0, end));
    });
    started.child.on('close', (code) =>
      reject(new Error(`ended with ${code}: ${started.errors().trim()}`)),
    );
  });
}

/** Resolves when a program has written something to its standard output. */
export function firstByte(started) {
  return new Promise((resolve, reject) => {
    started.child.stdout.once('data', () => resolve());
    started.child.on('close', (code) =>
      reject(new Error(`ended with ${code}: ${started.errors().trim()}`)),
    );
  });
}

/** Resolves once something accepts connections on the port; rejects when the process ends before. */
export async function waitForPort(port, started) {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end) {
    if (started.child.exitCode !== null || started.pid === undefined) {
      throw new Error(
        `did not start: ${started.errors().trim().split('\n').slice(-3).join(' | ')}`,
      );
    }
    if (await accepts(port)) return;
    await sleep(20);
  }
  throw new Error(`nothing listens on port ${port} after ${START_TIMEOUT_MS / 1000} s`);
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

/** A port that nobody uses at the moment, outside of the range of outgoing connections if possible. */
export async function freePort() {
  for (let attempt = 0; attempt < 100; ++attempt) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await canListen(port)) return port;
  }
  throw new Error('no free port was found');
}

function canListen(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The process and all that it started. */
export function processTree(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
  return [pid, ...children.flatMap(processTree)];
}

/** User and system time of all threads that the processes have or had. */
export function cpuMicros(pids) {
  const { user, system } = cpuTimes(pids);
  return user + system;
}

/** The same apart, each in microseconds. */
export function cpuTimes(pids) {
  let user = 0;
  let system = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces: fields are counted after it (state is field 3).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    user += Number(fields[14 - 3]);
    system += Number(fields[15 - 3]);
  }
  return { user: user * MICROS_PER_TICK, system: system * MICROS_PER_TICK };
}

/** Resident memory, in bytes. */
export function residentBytes(pids) {
  let kibibytes = 0;
  for (const pid of pids) {
    kibibytes += Number(
      /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0,
    );
  }
  return kibibytes * 1024;
}

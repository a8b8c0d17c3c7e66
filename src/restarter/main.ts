#!/usr/bin/env node
// The command fairlead-hot-restarter (dist/hot-restarter.js). Signals first: all else takes some time.
import { onHangUp, onReopen } from '../cli/signals.js';
import { nameProcess } from '../cli/process-name.js';
import { monotonicMs } from '../base/clock.js';
import { NOTIFY_SOCKET } from '../base/environment.js';
import { socketTell, type Tell } from '../service-manager.js';
import { startChild } from './child.js';
import { logToStderr } from './log.js';
import { parseRestarterArguments, type RestarterArguments } from './parse.js';
import { Supervisor } from './supervisor.js';

const PROGRAM = 'fairlead-hot-restarter';

type Run = Extract<RestarterArguments, { kind: 'run' }>;

async function main(words: readonly string[]): Promise<number> {
  const parsed = parseRestarterArguments(words);
  switch (parsed.kind) {
    case 'help': {
      const { helpText, widthOf } = await import('../cli/help.js');
      const { RESTARTER_MANUAL } = await import('./manual.js');
      const { RESTARTER_OPTIONS } = await import('./options.js');
      process.stdout.write(helpText(RESTARTER_MANUAL, RESTARTER_OPTIONS, widthOf(process.stdout)));
      return 0;
    }
    case 'version': {
      const { versionText } = await import('../base/version.js');
      process.stdout.write(`\n${PROGRAM}  version: ${versionText()}\n\n`);
      return 0;
    }
    case 'parse-error': {
      const { parseErrorText } = await import('../cli/help.js');
      process.stderr.write(parseErrorText(PROGRAM, parsed));
      return 1;
    }
    case 'error':
      process.stderr.write(`error: ${parsed.message}\n`);
      return 1;
    case 'run':
      return run(parsed);
  }
}

async function run({ command, readiness, options }: Run): Promise<number> {
  const supervisor = new Supervisor(options, {
    launch: (epoch, events) => startChild(command, readiness, epoch, events),
    log: logToStderr,
    tell: findTell(),
    monotonicMs,
  });
  onHangUp(() => {
    logToStderr('info', 'caught SIGHUP');
    supervisor.restart();
  });
  onReopen(() => {
    logToStderr('info', 'caught SIGUSR1: handing it on');
    supervisor.reopenLogs();
  });
  // Would end it, and leave its processes alone.
  process.on('SIGUSR2', () => logToStderr('warning', 'caught and eating SIGUSR2'));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      logToStderr('warning', `caught ${signal}`);
      supervisor.end();
    });
  }
  supervisor.start();
  const code = await supervisor.ended;
  command.close?.();
  return code;
}

/** Systemd takes messages of the main process only: this one. */
function findTell(): Tell {
  const socketName = process.env[NOTIFY_SOCKET] ?? '';
  if (socketName === '') return () => undefined;
  const tell = socketTell(socketName);
  tell(`MAINPID=${process.pid}`);
  return tell;
}

nameProcess(PROGRAM, process.argv.slice(2));
void main(process.argv.slice(2)).then((code) => process.exit(code));

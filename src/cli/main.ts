// The command: what is printed where, exit codes, signals.
import { writeFileSync } from 'node:fs';
import { closeLateDebugger, onHangUp, onReopen, untilEndSignal } from './signals.js';
import { guarded, reportBug } from '../base/bugs.js';
import { giveBackHeap } from '../base/heap.js';
import { optimizeLater } from '../base/pace-of-optimizing.js';
import { startTimeout } from '../base/timers.js';
import { Epoch } from '../hot-restart/epoch.js';
import { RestartError } from '../hot-restart/place.js';
import { NO_HOT_RESTART, hotRestartVersion } from '../hot-restart/version.js';
import { Log } from '../logging/logger.js';
import { loadAddon } from '../native.js';
import { readConfiguration } from '../server/configuration.js';
import { Server } from '../server/server.js';
import { StartError } from '../server/start-error.js';
import { findServiceManager } from '../service-manager.js';
import { logCrash } from './crash.js';
import { OPTION_LIST } from '../options/options.js';
import { parseArguments, type Options } from '../options/parse.js';
import { versionText } from '../base/version.js';

const PROGRAM = 'fairlead';
/** Once the first pages and probes have been answered. */
const HEAP_AFTER_START_MS = 200;

/** Runs until the process is asked to end. Resolves with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  if (args[0] === 'completion') return printCompletion(args[1]);
  if (args[0] === '--get-yargs-completions') {
    const { printCompletions } = await import('./completion.js');
    printCompletions(PROGRAM, args);
    return 0;
  }
  const parsed = parseArguments(args);
  switch (parsed.kind) {
    case 'help': {
      const { helpText, widthOf } = await import('./help.js');
      const { MANUAL } = await import('./manual.js');
      process.stdout.write(helpText(MANUAL, OPTION_LIST, widthOf(process.stdout)));
      return 0;
    }
    case 'version':
      process.stdout.write(`\n${PROGRAM}  version: ${versionText()}\n\n`);
      return 0;
    case 'hot-restart-version':
      process.stderr.write(
        parsed.options.disableHotRestart
          ? NO_HOT_RESTART
          : hotRestartVersion(loadAddon().hotRestart),
      );
      return 0;
    case 'parse-error': {
      const { parseErrorText } = await import('./help.js');
      process.stderr.write(parseErrorText(PROGRAM, parsed));
      return 1;
    }
    case 'error':
      process.stderr.write(`error: ${parsed.message}\n`);
      return 1;
    case 'options':
      return parsed.options.mode === 'validate' ? validate(parsed.options) : serve(parsed.options);
  }
}

async function printCompletion(shell = ''): Promise<number> {
  const { SHELLS, printCompletionScript } = await import('./completion.js');
  if (!SHELLS.includes(shell)) {
    const expected = `expected ${PROGRAM} completion ${SHELLS.join('|')}`;
    process.stderr.write(`error: no completion for the shell '${shell}'; ${expected}\n`);
    return 1;
  }
  printCompletionScript(PROGRAM, shell);
  return 0;
}

/** Touches no network and writes no file. */
function validate(options: Options): number {
  // Levels of single components are for serving only, as in the real server.
  const log = openLog({ ...options, componentLevels: new Map(), enableFineGrainLogging: false });
  try {
    readConfiguration(options, log);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const what = `error initializing configuration '${options.configPath}'`;
    log.critical('main', `${what}:\n${error.message}`);
    return 1;
  }
  process.stdout.write(`configuration '${options.configPath}' OK\n`);
  return 0;
}

async function serve(options: Options): Promise<number> {
  const log = openLog(options);
  log.installCrashHandlers();
  onReopen(() => {
    log.info('main', 'caught SIGUSR1. Reopening access logs.');
    log.reopen();
  });
  onHangUp(() => {
    log.warn('main', 'caught and eating SIGHUP. See documentation for how to hot restart.');
  });
  let server: Server | undefined;
  process.on('uncaughtException', (error) => {
    // Traffic goes on, whatever happened to a page or a timer.
    if (server?.isServing) {
      reportBug('the process', error);
      return;
    }
    logCrash(log, error, options.logStacktraceSingleEntry);
    process.exit(1);
  });
  const endSignal = untilEndSignal();
  let epoch: Epoch | undefined;
  try {
    openLogFile(options, log);
    epoch = joinEpochs(options, log);
    // Before it attaches: what is wrong with the configuration disturbs no parent.
    const configuration = readConfiguration(options, log);
    await closeLateDebugger();
    const tellManager = findServiceManager(process.env);
    const served = new Server({
      ...{ options, configuration, log, tellManager },
      ...(epoch && { epoch }),
    });
    server = served;
    const reopenAll = (): void => {
      log.info('main', 'caught SIGUSR1. Reopening access logs.');
      served.reopenLogs();
    };
    onReopen(guarded('SIGUSR1', reopenAll));
    await run(served, options, endSignal);
    return 0;
  } catch (error) {
    if (error instanceof RestartError) {
      process.stderr.write(`${error.message}\n`);
      return 1;
    }
    if (!(error instanceof StartError)) throw error;
    log.critical('main', `error initializing config '${options.configPath}':\n${error.message}`);
    // Whoever started this looks here, wherever the log goes.
    if (!log.isSeenOnStderr('critical', 'main')) process.stderr.write(`${error.message}\n`);
    return 1;
  } finally {
    epoch?.close();
  }
}

/** Throws a RestartError. Undefined: there are no hot restarts. */
function joinEpochs(options: Options, log: Log): Epoch | undefined {
  if (options.disableHotRestart) return undefined;
  const restart = { ...options, socketMode: options.socketPermission };
  const epoch = new Epoch(loadAddon().hotRestart, restart, log);
  if (options.baseIdPath !== '') {
    try {
      writeFileSync(options.baseIdPath, String(epoch.baseId));
    } catch {
      const path = options.baseIdPath;
      log.critical('misc', `cannot open base id output file ${path} for writing.`);
    }
  }
  return epoch;
}

async function run(server: Server, options: Options, endSignal: Promise<string>): Promise<void> {
  try {
    const started = server.start().then(() => {
      startTimeout(giveBackHeap, HEAP_AFTER_START_MS).unref();
      // What is kept compiled (dist/command.cache) is of V8's own pace, and of starts alone.
      if (options.mode === 'serve') optimizeLater();
    });
    const ended = Promise.race([endSignal, server.quitAsked]);
    const signal = await (options.mode === 'init_only'
      ? started
      : Promise.race([started.then(() => ended), ended]));
    if (signal)
      server.log.warn('main', `caught ${signal === 'SIGTERM' ? 'ENVOY_SIGTERM' : signal}`);
  } finally {
    await server.stop();
  }
}

/** On stderr: what --log-path names is opened once it is time to serve. */
function openLog(options: Options): Log {
  return new Log({
    level: options.level,
    componentLevels: options.componentLevels,
    pattern: options.logFormat,
    isEscaped: options.logFormatEscaped,
    isFineGrain: options.enableFineGrainLogging,
  });
}

function openLogFile({ logPath }: Options, log: Log): void {
  const problem = log.openFile(logPath);
  if (problem !== undefined)
    throw new StartError(`Failed to open log-file '${logPath}': ${problem}`);
}

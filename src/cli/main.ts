// The command: arguments, exit codes, signals.
import { Log } from '../logging/logger.js';
import { Server, StartError, readConfiguration } from '../server/server.js';
import { helpText, parseErrorText } from './help.js';
import { parseArguments, type Options } from './parse.js';
import { versionText } from './version.js';

const PROGRAM = 'fairlead';

/** Runs until the process is asked to end. Resolves with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  switch (parsed.kind) {
    case 'help':
      process.stdout.write(helpText(PROGRAM));
      return 0;
    case 'version':
      process.stdout.write(`\n${PROGRAM}  version: ${versionText()}\n\n`);
      return 0;
    case 'parse-error':
      process.stderr.write(parseErrorText(PROGRAM, parsed.argument, parsed.why));
      return 1;
    case 'error':
      process.stderr.write(`error: ${parsed.message}\n`);
      return 1;
    case 'options':
      return parsed.options.mode === 'validate' ? validate(parsed.options) : serve(parsed.options);
  }
}

function validate(options: Options): number {
  try {
    readConfiguration(options);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`error initializing configuration '${options.configPath}': ${error.message}\n`);
    return 1;
  }
  process.stdout.write(`configuration '${options.configPath}' OK\n`);
  return 0;
}

function openLog(options: Options): Log | string {
  try {
    return new Log({
      level: options.logLevel,
      pattern: options.logFormat,
      componentLevels: options.componentLevels,
      ...(options.logPath === '' ? {} : { path: options.logPath }),
    });
  } catch (error) {
    return `cannot open log file '${options.logPath}': ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function serve(options: Options): Promise<number> {
  const log = openLog(options);
  if (typeof log === 'string') {
    process.stderr.write(`error: ${log}\n`);
    return 1;
  }
  const ended = new Promise<string>((resolve) => {
    process.on('SIGTERM', () => resolve('caught ENVOY_SIGTERM'));
    process.on('SIGINT', () => resolve('caught SIGINT'));
    process.on('fairlead:quit' as 'beforeExit', () => resolve(''));
  });
  process.on('SIGHUP', () => log.warn('main', 'caught and eating SIGHUP. See documentation for how to hot restart.'));
  // Node would open its inspector.
  process.on('SIGUSR1', () => log.info('main', 'caught SIGUSR1. Reopening access logs.'));
  let server: Server;
  try {
    server = new Server(options, log);
    process.on('SIGUSR1', () => server.reopenLogs());
    await server.start();
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    log.critical('main', `error initializing config '${options.configPath}'`);
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
  if (options.mode === 'serve') {
    const why = await ended;
    if (why !== '') log.warn('main', why);
  }
  await server.stop();
  return 0;
}

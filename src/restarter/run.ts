// fairlead-hot-restarter: its signals, its words, and where processes tell it that they are ready.
import { onHangUp, onReopen, untilEndSignal } from '../cli/signals.js';
import { loadAddon } from '../native.js';
import { USAGE, parseCommand } from './command.js';
import { notifySupervisor } from './notify.js';
import { Supervisor } from './supervisor.js';

/** Resolves with the exit code. */
export async function runRestarter(words: readonly string[]): Promise<number> {
  const command = parseCommand(words);
  if (command === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  const log = (message: string): void => {
    process.stderr.write(`fairlead-hot-restarter: ${message}\n`);
  };
  if (typeof command === 'string') {
    log(command);
    process.stderr.write(USAGE);
    return 1;
  }
  const { hotRestart } = loadAddon();
  const notifySocket = `@fairlead_hot_restarter_${process.pid}_${Math.floor(Math.random() * 2 ** 32)}`;
  const heard = hotRestart.bindSocket(notifySocket, 0, (bytes, descriptors) => {
    hotRestart.closeDescriptors(descriptors);
    if (bytes.toString().split('\n').includes('READY=1')) supervisor.onReady();
  });
  if (typeof heard === 'number') {
    log(`cannot hear from processes: errno ${heard}`);
    return 1;
  }
  const notify = (...lines: readonly string[]): void => notifySupervisor(hotRestart, lines);
  const supervisor = new Supervisor(command, { log, notify, notifySocket });
  onHangUp(() => {
    log('got SIGHUP');
    supervisor.startNext();
  });
  onReopen(() => supervisor.pass('SIGUSR1'));
  void untilEndSignal().then((signal) => {
    log(`got ${signal}`);
    supervisor.end();
  });
  supervisor.startNext();
  const code = await supervisor.ended;
  heard.close();
  return code;
}

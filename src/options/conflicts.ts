// Options that do not go together, and why.
import { ABSTRACT, type OptionValues } from './options.js';

export function findConflict(values: OptionValues): string | undefined {
  if (values.enableFineGrainLogging && values.componentLogLevel !== '') {
    return '--component-log-level will not work with --enable-fine-grain-logging';
  }
  if (values.useDynamicBaseId && values.restartEpoch !== 0) {
    return `cannot use --restart-epoch=${values.restartEpoch} with --use-dynamic-base-id; expected --base-id with the id of the first epoch`;
  }
  // The real server checks nothing of an abstract path, and --mode validate makes no sockets.
  const makesSockets = values.mode !== 'validate' && !values.disableHotRestart;
  if (makesSockets && values.socketMode !== undefined && values.socketPath.startsWith(ABSTRACT)) {
    return `a permission for sockets needs files: --socket-path=${values.socketPath} is an abstract name; expected the path of a file, or no permission`;
  }
  return undefined;
}

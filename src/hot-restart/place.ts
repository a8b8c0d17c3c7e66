// Where a process stands among those of its base id: the shared memory, made by epoch 0 and joined by
// later ones, and the names on which it is spoken to.
import { constants } from 'node:os';
import { dirname } from 'node:path';
import type { HotRestartAddon, OpenedRegion, SharedRegion } from '../native-hot-restart.js';
import { BindError, Channel } from './channel.js';
import type { Whole } from './fragments.js';
import { regionName, scaledId, socketName } from './names.js';

/** This process cannot take part in hot restarts as it was told to. Its message is for a person. */
export class RestartError extends Error {}

/** Another process has the base id, or something of it. */
class TakenError extends RestartError {}

/** What the command line says. */
export interface RestartOptions {
  readonly baseId: number;
  readonly useDynamicBaseId: boolean;
  readonly restartEpoch: number;
  readonly socketPath: string;
  /** Of sockets that are files. */
  readonly socketMode: number;
  readonly skipHotRestartOnNoParent: boolean;
}

export interface Place {
  readonly baseId: number;
  readonly region: SharedRegion;
  /** What crashed processes had left behind was replaced. */
  readonly replacedLeftover: boolean;
  /** The newest living epoch: whom to attach to. Undefined: there is none. */
  readonly parentEpoch: number | undefined;
  /** Spoken to as a parent. */
  readonly parentChannel: Channel;
  /** Spoken to as a child. */
  readonly childChannel: Channel;
  /** Called with what comes; set once somebody listens. */
  readonly listeners: { asParent: (whole: Whole) => void; asChild: (whole: Whole) => void };
}

/** Tries to find a base id that nobody uses. */
const DYNAMIC_TRIES = 100;
/** The real server's range of dynamic base ids. */
const DYNAMIC_MASK = 0x0fff_ffff;

/** Throws a RestartError. Nothing of it disturbs other processes. */
export function takePlace(addon: HotRestartAddon, options: RestartOptions): Place {
  if (!options.useDynamicBaseId) return placeOf(addon, options, options.baseId);
  for (let tried = 0; tried < DYNAMIC_TRIES; tried += 1) {
    const baseId = Math.floor(Math.random() * 2 ** 32) & DYNAMIC_MASK;
    try {
      return placeOf(addon, options, baseId);
    } catch (error) {
      if (!(error instanceof TakenError)) throw error;
    }
  }
  throw new RestartError('unable to select a dynamic base id');
}

function placeOf(addon: HotRestartAddon, options: RestartOptions, baseId: number): Place {
  const epoch = options.restartEpoch;
  const name = regionName(baseId);
  let opened = epoch === 0 ? addon.createRegion(name) : addon.joinRegion(name);
  if (opened.status === 'missing' && options.skipHotRestartOnNoParent) {
    opened = addon.createRegion(name);
  }
  const { region, status } = opened;
  if (!region) {
    const why = whyNoRegion(opened, baseId, epoch);
    throw status === 'in-use' ? new TakenError(why) : new RestartError(why);
  }
  try {
    if (!region.beginInitializing()) {
      throw new RestartError('previous envoy process is still initializing');
    }
    const parentEpoch = region.otherEpochs().at(-1);
    if (status === 'joined') checkEpoch(region, options, baseId, parentEpoch);
    const channels = bindChannels(addon, options, baseId);
    return { baseId, region, replacedLeftover: status === 'replaced', parentEpoch, ...channels };
  } catch (error) {
    region.close();
    throw error;
  }
}

function bindChannels(
  addon: HotRestartAddon,
  { socketPath, socketMode, restartEpoch }: RestartOptions,
  baseId: number,
): Pick<Place, 'parentChannel' | 'childChannel' | 'listeners'> {
  const nobody = ({ descriptors }: Whole): void => addon.closeDescriptors(descriptors);
  const listeners = { asParent: nobody, asChild: nobody };
  const bind = (role: 'parent' | 'child', onMessage: (whole: Whole) => void): Channel => {
    const name = socketName(socketPath, role, baseId, restartEpoch);
    try {
      return new Channel(addon, name, socketMode, onMessage);
    } catch (error) {
      if (!(error instanceof BindError)) throw error;
      const why = unableToBind(baseId, restartEpoch, error.errno);
      if (error.errno === constants.errno.EADDRINUSE) throw new TakenError(why);
      throw new RestartError(
        `${why}: ${error.message}: a socket in '${dirname(name)}' (see --socket-path option)`,
      );
    }
  };
  const parentChannel = bind('parent', (whole) => listeners.asParent(whole));
  try {
    return { parentChannel, childChannel: bind('child', (w) => listeners.asChild(w)), listeners };
  } catch (error) {
    parentChannel.close();
    throw error;
  }
}

/**
 * There is memory of earlier processes: is this process the next one? The epochs between it and the
 * newest that lives have died: whoever counts them may go on counting, or start one of them again.
 */
function checkEpoch(
  region: SharedRegion,
  { restartEpoch, skipHotRestartOnNoParent }: RestartOptions,
  baseId: number,
  parentEpoch: number | undefined,
): void {
  const { lastEpoch } = region;
  if (restartEpoch > (parentEpoch ?? -1) && restartEpoch <= lastEpoch + 1) return;
  if (parentEpoch === undefined && skipHotRestartOnNoParent) return;
  const rest =
    parentEpoch === undefined
      ? `epoch ${lastEpoch} was the last one, and is gone: start again with --restart-epoch 0`
      : `epoch ${parentEpoch} is running: its successor is --restart-epoch ${lastEpoch + 1}`;
  throw new RestartError(
    `hot restart sendmsg() connection refused: no parent process of epoch ${restartEpoch - 1} ` +
      `with base id ${baseId}; ${rest}`,
  );
}

function whyNoRegion(opened: OpenedRegion, baseId: number, epoch: number): string {
  const name = regionName(baseId);
  switch (opened.status) {
    case 'in-use':
      return (
        `${unableToBind(baseId, epoch, constants.errno.EADDRINUSE)}: a process with base id ` +
        `${baseId} is running; expected another --base-id, or a --restart-epoch to take over from it`
      );
    case 'missing':
      return (
        `cannot open shared memory region ${name}: no parent process of epoch ${epoch - 1} with ` +
        `base id ${baseId} (see --base-id, --restart-epoch and --skip-hot-restart-on-no-parent)`
      );
    case 'other-layout':
      return (
        `shared memory region ${name} has layout ${opened.layoutVersion}, which this version does ` +
        'not know: its processes cannot be taken over from (see --hot-restart-version)'
      );
    case 'no-room':
      return (
        `cannot make shared memory region ${name}: /dev/shm is full; expected room for one page ` +
        '(see --disable-hot-restart)'
      );
    default:
      return `cannot open shared memory region ${name}: ${opened.error} (see --base-id option)`;
  }
}

function unableToBind(baseId: number, epoch: number, errno: number): string {
  return (
    `unable to bind domain socket with base_id=${scaledId(baseId)}, id=${epoch}, ` +
    `errno=${errno} (see --base-id option)`
  );
}

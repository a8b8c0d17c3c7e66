// Why listeners that come by LDS are not put in place: what is wrong with their messages, or what stands in
// their way.
import type { envoy_config_listener_v3_Listener as Listener } from '../../build/messages.gen.js';
import type { Issue } from '../config/issues/issue.js';
import { messageKey } from '../config/values/same-message.js';
import { addressesOf, addressesText, fixedAddresses } from '../plan/listener/listen-sockets.js';
import type { Place } from '../plan/message/place.js';
import type { Listener as ListenerPlan } from '../plan/plan.gen.js';
import type { Refusal } from './listener-round.js';

/** A listener that could not be put in place. */
export interface RefusedListener {
  readonly message: Listener;
  readonly details: string;
  /** Milliseconds since 1970. */
  readonly attemptMs: number;
  /** Under its name, as the real server: not of one that is there twice, or has no address. */
  readonly isKept: boolean;
}

/** As the real server, which goes no further than to the first that is wrong, pages say only that. */
export const refusalOf = (
  errors: readonly Issue[],
  describe: (issue: Issue) => string,
): Refusal => ({
  details: errors[0]?.message ?? '',
  lines: errors.map(describe),
});

export const refusalOfFaults = (
  faults: readonly Issue[],
  describe: (issue: Issue) => string,
): Refusal => ({
  details: `Proto constraint validation failed (${faults.map(({ path, message }) => `${path}: ${message}`).join('; ')})`,
  lines: faults.map(describe),
});

export const isThereTwice = (name: string): Refusal => ({
  details: `duplicate listener ${name} found`,
  lines: [`duplicate listener ${name} found`],
});

const reusesPort = ({ enable_reuse_port: isEnabled = true }: Listener): boolean => isEnabled;

/** Sockets of one kind cannot become those of the other. */
export function refuseOtherReuse(before: Listener, after: Listener, place: Place): void {
  if (reusesPort(before) === reusesPort(after)) return;
  place
    .field('enable_reuse_port')
    .error(`Listener ${after.name ?? ''}: reuse port cannot be changed during an update`);
}

/** What sockets of listeners that there are stand in the way of. */
export function refuseSockets(
  listener: ListenerPlan,
  before: ListenerPlan | undefined,
  others: readonly ListenerPlan[],
  place: Place,
): void {
  const { name = '' } = listener;
  const optionsOf = (plan: ListenerPlan): unknown[] =>
    addressesOf(plan).map(({ socket_options: options = [] }) => options);
  const isOther = messageKey(optionsOf(before ?? {})) !== messageKey(optionsOf(listener));
  if (before && !listener.reuse_port && isOther) {
    place
      .field('socket_options')
      .error(
        `Listener ${name}: doesn't support update any socket options when the reuse port isn't enabled`,
      );
  }
  const wanted = new Set(fixedAddresses(listener));
  const owner = others.find(
    (other) => other.name !== name && fixedAddresses(other).some((text) => wanted.has(text)),
  );
  if (!owner) return;
  const text = addressesText(addressesOf(listener));
  place
    .field('address')
    .error(
      `error adding listener: '${name}' has duplicate address '${text}' as existing listener, to ` +
        'check if the listener has duplicated addresses with other listeners or ' +
        `'enable_reuse_port' is set to 'false' for the listener`,
    );
}

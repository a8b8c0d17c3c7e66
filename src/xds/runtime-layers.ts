// A layer of the runtime that comes by RTDS.
import type { PlainObject } from '../config/values/objects.js';
import type { RtdsPlan } from '../plan/rtds.js';
import { checkValues } from '../plan/runtime/runtime-layers.js';
import { RTDS } from './api.js';
import { Subscription, type Subscribing } from './subscription.js';

/** `statPrefix`: all layers are counted together. `use`: takes what the layer says now. */
export function subscribeToRuntime(
  { name, source }: RtdsPlan,
  statPrefix: string,
  host: Subscribing,
  use: (layer: PlainObject) => void,
): Subscription {
  return new Subscription(
    {
      ...{ source, statPrefix, api: RTDS, names: [name], target: 'RTDS' },
      onAbsent: () => use({}),
      judge: (resources) => {
        const [first] = resources;
        if (!first || resources.length > 1) {
          return `Unexpected RTDS resource length: ${resources.length}`;
        }
        const { message, place } = first;
        if (message['name'] !== name) {
          return `Unexpected RTDS runtime (expecting ${name}): ${String(message['name'] ?? '')}`;
        }
        const layer = (message['layer'] ?? {}) as PlainObject;
        checkValues(layer, place.field('layer'));
        return () => {
          use(layer);
          return undefined;
        };
      },
    },
    host,
  );
}

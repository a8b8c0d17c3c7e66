// Endpoints of a locality that come by LEDS, each a resource of a collection.
import type {
  envoy_config_endpoint_v3_LbEndpoint as LbEndpoint,
  envoy_config_endpoint_v3_LedsClusterLocalityConfig as LedsConfig,
} from '../../build/messages.gen.js';
import { compileCollection } from '../plan/collections.js';
import type { LaterContext } from '../plan/compiled.js';
import { Place } from '../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../plan/message/supported-fields.js';
import type { Source } from '../plan/sources.js';
import { LEDS } from './api.js';
import { merged } from './merged.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

const CONFIG = supportedFields<LedsConfig>('envoy.config.endpoint.v3.LedsClusterLocalityConfig', [
  'leds_config',
  'leds_collection_name',
]);

export interface LedsPlan {
  readonly source: Source;
  readonly collection: string;
}

export const ledsKey = (plan: LedsPlan): string => JSON.stringify(plan);

/** Undefined after an error. */
export function compileLeds(
  config: LedsConfig,
  place: Place,
  context: LaterContext,
): LedsPlan | undefined {
  refuseOtherFields(place, config, CONFIG);
  const { leds_config: message, leds_collection_name: locator = '' } = config;
  const found = compileCollection(
    locator,
    'envoy.config.endpoint.v3.LbEndpoint',
    place.field('leds_collection_name'),
    { message, place: place.field('leds_config') },
    context,
  );
  if (!found) return undefined;
  const { source, collection } = found;
  if (collection !== undefined) return { source, collection };
  place.field('leds_collection_name').error('LEDS from a file is not supported', {
    expected: 'xdstp://AUTHORITY/envoy.config.endpoint.v3.LbEndpoint/ID/*',
  });
  return undefined;
}

export interface LedsParts {
  readonly statPrefix: string;
  readonly target: string;
  /** These in the place of those that there are. What is wrong goes to `place`. */
  readonly judge: (endpoints: readonly LbEndpoint[], place: Place) => Commit;
  /** The first update has come, or is not waited for any longer. */
  readonly onFirst: () => void;
}

export class LocalityEndpoints {
  readonly #subscription: Subscription;
  readonly #onFirst: () => void;
  /** By the names of their resources. */
  #endpoints: ReadonlyMap<string, LbEndpoint> = new Map();

  constructor({ source, collection }: LedsPlan, parts: LedsParts, host: Subscribing) {
    this.#onFirst = parts.onFirst;
    this.#subscription = new Subscription(
      {
        ...{ source, statPrefix: parts.statPrefix, api: LEDS, target: parts.target },
        ...{ names: [collection], isCollection: true },
        judge: (resources, _, __, removed) => this.#judge(resources, removed, parts, host),
      },
      host,
    );
  }

  get endpoints(): readonly LbEndpoint[] {
    return [...this.#endpoints.values()];
  }

  get isFirstDone(): boolean {
    return this.#subscription.isFirstDone;
  }

  start(): void {
    this.#subscription.start(this.#onFirst);
  }

  stop(): void {
    this.#subscription.stop();
  }

  #judge(
    resources: readonly Resource[],
    removed: readonly string[] | undefined,
    { judge, statPrefix }: LedsParts,
    host: Subscribing,
  ): Commit {
    const before = this.#endpoints;
    const after = merged(before, resources, removed);
    const [first] = resources;
    const commit = judge([...after.values()], first?.place ?? Place.root([]));
    return () => {
      if (after.size === 0 && before.size === 0) {
        host.stats.count(`${statPrefix}update_empty`);
        return undefined;
      }
      this.#endpoints = after;
      return commit();
    };
  }
}

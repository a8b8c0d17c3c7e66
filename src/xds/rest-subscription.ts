// Resources of one kind from a control plane that is asked again and again over HTTP, in JSON.
import { unawaited } from '../base/bugs.js';
import { startTimeout } from '../base/timers.js';
import { countUnknownFields } from '../config/issues/unknown-fields.js';
import { formatIssue } from '../config/issues/issue.js';
import { loadJson } from '../config/load.js';
import type { TextAnswer } from '../http/cluster-http.js';
import type { PlainObject } from '../config/values/objects.js';
import type { RestSource } from '../plan/sources.js';
import type { envoy_service_discovery_v3_DiscoveryResponse as DiscoveryResponse } from '../../build/messages.gen.js';
import { urlOf, type DiscoveryApi } from './api.js';
import { FirstFetch } from './first-fetch.js';
import { sortDeprecated } from './own-faults.js';
import { ownFaultsOf, unwrapped } from './resource-file.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { Transport } from './transport.js';
import type { Updates } from './updates.js';

const RESPONSE = 'envoy.service.discovery.v3.DiscoveryResponse';

export interface RestParts {
  readonly api: DiscoveryApi;
  readonly names: readonly string[];
  /** As JSON has it. */
  readonly node: PlainObject;
  /** Undefined: there is no whole answer. */
  readonly post: (path: string, body: string) => Promise<TextAnswer | undefined>;
}

export class RestSubscription implements Transport {
  readonly #source: RestSource;
  readonly #parts: RestParts;
  readonly #updates: Updates;
  readonly #host: SubscriptionHost;
  readonly #first: FirstFetch;
  #version = '';
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(source: RestSource, parts: RestParts, updates: Updates, host: SubscriptionHost) {
    this.#source = source;
    this.#parts = parts;
    this.#updates = updates;
    this.#host = host;
    this.#first = new FirstFetch(source.initialFetchTimeoutMs);
  }

  start(onFirst: () => void): void {
    this.#first.start(onFirst, () => {
      this.#host.log('warning', `REST config: initial fetch timeout for ${urlOf(this.#parts.api)}`);
      this.#updates.count('init_fetch_timeout');
    });
    unawaited('a request to a control plane', this.#fetch());
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#first.stop();
  }

  /** It is about to be asked anyway. */
  refresh(): void {}

  async #fetch(): Promise<void> {
    const { api, names, node, post } = this.#parts;
    this.#updates.count('update_attempt');
    const request = {
      ...(this.#version !== '' && { version_info: this.#version }),
      node,
      ...(names.length > 0 && { resource_names: names }),
      type_url: urlOf(api),
    };
    const answer = await post(api.path, JSON.stringify(request));
    if (this.#isStopped) return;
    if (answer?.status === 200) await this.#take(answer.text);
    else if (answer?.status !== 304)
      this.#fail(answer ? `HTTP status ${answer.status}` : 'no answer');
    if (this.#isStopped) return;
    // As the real server: up to twice as long, so that many servers do not ask at once.
    const delayMs = this.#source.refreshMs * (1 + Math.random());
    this.#timer = startTimeout(
      () => unawaited('a request to a control plane', this.#fetch()),
      delayMs,
    ).unref();
  }

  #fail(why: string): void {
    this.#host.log('debug', `REST update for ${this.#parts.api.path} failed: ${why}`);
    this.#updates.count('update_failure');
  }

  async #take(text: string): Promise<void> {
    const { api } = this.#parts;
    const { unknownFields, stats, log } = this.#host;
    const startedMs = performance.now();
    const loaded = loadJson<DiscoveryResponse>(
      `the answer of ${this.#source.clusterName}`,
      text,
      { type: RESPONSE, name: 'a DiscoveryResponse' },
      { unknownFields: unknownFields === 'refused' ? 'error' : 'warning', refusesV2: true },
    );
    const errors = loaded.issues.filter(({ severity }) => severity === 'error');
    if (unknownFields === 'told' && loaded.isWhole) {
      stats.count('server.dynamic_unknown_fields', countUnknownFields(loaded.issues));
    }
    const { version_info: version = '', resources = [] } = loaded.partial ?? {};
    const all = unwrapped(resources);
    const faults =
      loaded.partial && loaded.isWhole
        ? ownFaultsOf(errors, loaded.partial as PlainObject, all)
        : undefined;
    const root: PlainObject = (loaded.partial as PlainObject | undefined) ?? {};
    const uses = sortDeprecated(loaded.issues, root, all, api.type);
    stats.countDeprecated(uses.read);
    const messages = all.map((message) => ({
      message,
      ...{ faults: faults?.get(message), madeUses: uses.made.get(message) },
    }));
    const wrong = !faults
      ? errors.map(formatIssue).join('\n')
      : await this.#updates.take(messages, version, startedMs);
    if (wrong === undefined) this.#version = version;
    else {
      log('warning', `REST config for ${api.path} rejected: ${wrong}`);
      this.#updates.count('update_rejected');
    }
    this.#first.end();
  }
}

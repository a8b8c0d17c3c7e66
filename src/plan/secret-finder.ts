// Where a transport socket finds its secrets: in the bootstrap, or among those that come while the
// server runs. What has not come yet is noted, and the socket is made again when it does.
import type {
  envoy_extensions_transport_sockets_tls_v3_SdsSecretConfig as SecretConfig,
  envoy_extensions_transport_sockets_tls_v3_Secret as Secret,
} from '../../build/messages.gen.js';
import { compileSecretSource } from './config-source.js';
import type { SourceContext } from './grpc/api-config-source.js';
import type { Place } from './message/place.js';
import type { SecretLookup, SecretRequest } from './secret-request.js';
import type { SecretKind, StaticSecrets } from './static-secrets.js';

export interface FoundSecret<K extends SecretKind> {
  readonly message: NonNullable<Secret[K]>;
  readonly place: Place;
}

export class SecretFinder {
  readonly #secrets: StaticSecrets;
  readonly #context: SourceContext;
  readonly #lookup: SecretLookup;
  readonly requests: SecretRequest[] = [];
  #isPending = false;

  constructor(
    context: SourceContext & { readonly secrets: StaticSecrets },
    lookup: SecretLookup = () => undefined,
  ) {
    this.#secrets = context.secrets;
    this.#context = context;
    this.#lookup = lookup;
  }

  /** Something without which it cannot be used has not come yet. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** 'pending': it has not come yet. Undefined after an error. */
  find<K extends SecretKind>(
    kind: K,
    config: SecretConfig,
    place: Place,
  ): FoundSecret<K> | 'pending' | undefined {
    const found = this.#ask(kind, config, place);
    if (found === 'pending') this.#isPending = true;
    return found;
  }

  /** Of each as `find`. One that has come is enough for a socket: the others join it when they come. */
  findSome<K extends SecretKind>(
    kind: K,
    configs: readonly SecretConfig[],
    place: Place,
  ): (FoundSecret<K> | 'pending' | undefined)[] {
    const all = configs.map((config, index) => this.#ask(kind, config, place.index(index)));
    if (all.length > 0 && all.every((found) => found === 'pending')) this.#isPending = true;
    return all;
  }

  #ask<K extends SecretKind>(
    kind: K,
    config: SecretConfig,
    place: Place,
  ): FoundSecret<K> | 'pending' | undefined {
    if (!config.sds_config) return this.#secrets.find(kind, config, place);
    const at = place.field('sds_config');
    const source = compileSecretSource(config.sds_config, at, this.#context);
    if (!source) return undefined;
    const request = { kind, name: config.name ?? '', source };
    this.requests.push(request);
    const found = this.#lookup(request);
    const message = found?.secret[kind];
    if (found && message) return { message, place: found.place.field(kind) };
    return 'pending';
  }
}

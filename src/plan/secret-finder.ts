// Where a transport socket finds its secrets: in the bootstrap, or among those that come while the
// server runs. What has not come yet is noted, and the socket is made again when it does.
import type {
  envoy_extensions_transport_sockets_tls_v3_SdsSecretConfig as SecretConfig,
  envoy_extensions_transport_sockets_tls_v3_Secret as Secret,
} from '../../build/messages.gen.js';
import { compileConfigSource, type FileSource } from './config-source.js';
import type { Place } from './message/place.js';
import type { SecretKind, StaticSecrets } from './static-secrets.js';

export const SECRET_TYPE = 'envoy.extensions.transport_sockets.tls.v3.Secret';

/** A secret that a file has. */
export interface SecretRequest {
  readonly kind: SecretKind;
  readonly name: string;
  readonly source: FileSource;
}

export interface FoundSecret<K extends SecretKind> {
  readonly message: NonNullable<Secret[K]>;
  readonly place: Place;
}

/** What has come of a request so far; undefined: nothing yet. */
export type SecretLookup = (
  request: SecretRequest,
) => { readonly secret: Secret; readonly place: Place } | undefined;

export class SecretFinder {
  readonly #secrets: StaticSecrets;
  readonly #hasNode: boolean;
  readonly #lookup: SecretLookup;
  readonly requests: SecretRequest[] = [];
  #isPending = false;

  constructor(
    context: { readonly secrets: StaticSecrets; readonly hasNode: boolean },
    lookup: SecretLookup = () => undefined,
  ) {
    this.#secrets = context.secrets;
    this.#hasNode = context.hasNode;
    this.#lookup = lookup;
  }

  /** Something that was asked for has not come yet. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** 'pending': it has not come yet. Undefined after an error. */
  find<K extends SecretKind>(
    kind: K,
    config: SecretConfig,
    place: Place,
  ): FoundSecret<K> | 'pending' | undefined {
    if (!config.sds_config) return this.#secrets.find(kind, config, place);
    const at = place.field('sds_config');
    const source = compileConfigSource(config.sds_config, SECRET_TYPE, at, {
      hasNode: this.#hasNode,
    });
    if (!source) return undefined;
    const request = { kind, name: config.name ?? '', source };
    this.requests.push(request);
    const found = this.#lookup(request);
    const message = found?.secret[kind];
    if (found && message) return { message, place: found.place.field(kind) };
    this.#isPending = true;
    return 'pending';
  }
}

// What a transport socket asks SDS for, and what has come of it.
import type { envoy_extensions_transport_sockets_tls_v3_Secret as Secret } from '../../build/messages.gen.js';
import type { Place } from './message/place.js';
import type { Source } from './sources.js';
import type { SecretKind } from './static-secrets.js';

export const SECRET_TYPE = 'envoy.extensions.transport_sockets.tls.v3.Secret';

/** A secret that is not in the bootstrap. */
export interface SecretRequest {
  readonly kind: SecretKind;
  readonly name: string;
  readonly source: Source;
}

/** What has come of a request so far; undefined: nothing yet. */
export type SecretLookup = (
  request: SecretRequest,
) => { readonly secret: Secret; readonly place: Place } | undefined;

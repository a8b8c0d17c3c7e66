// A secret that is a text, as filters name it: of the bootstrap, or one that comes by SDS.
import type { envoy_extensions_transport_sockets_tls_v3_SdsSecretConfig as SecretConfig } from '../../build/messages.gen.js';
import { compileSecretSource } from './config-source.js';
import type { CompileContext } from './extension.js';
import type { SecretSource } from './live-sources.js';
import type { Secret } from './plan.gen.js';
import type { SecretRequest } from './secret-request.js';
import { readTextSource } from './message/data-source.js';
import type { Place } from './message/place.js';

/** Undefined after an error. `unknown`: what is wrong, where the bootstrap has no such secret. */
export function compileSecret(
  config: SecretConfig,
  place: Place,
  context: CompileContext,
  unknown?: string,
  use: SecretSource['use'] = 'filter',
): Secret | undefined {
  if (config.sds_config) {
    const request = requestSecret(config, place, context);
    if (!request) return undefined;
    const id = context.live.add({ kind: 'secret', request, use });
    context.holdLive(id, request);
    return { id, value: context.live.secretText?.(request) };
  }
  if (unknown !== undefined && !context.secrets.has('generic_secret', config)) {
    place.error(unknown, { expected: 'the name of one of static_resources.secrets' });
    return undefined;
  }
  const found = context.secrets.find('generic_secret', config, place);
  const value = found && readTextSource(found.message.secret, found.place.field('secret'));
  return value === undefined ? undefined : { value };
}

function requestSecret(
  config: SecretConfig,
  place: Place,
  context: CompileContext,
): SecretRequest | undefined {
  const at = place.field('sds_config');
  const source = compileSecretSource(config.sds_config, at, context);
  return source && { kind: 'generic_secret', name: config.name ?? '', source };
}

// Where a cluster says what it speaks: in the extension's message, or in its own older fields.
import type { envoy_config_cluster_v3_Cluster as ClusterMessage } from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { UpstreamHttpOptions } from '../extension-plans.js';
import type { Place } from '../message/place.js';
import { Cluster_Protocol as Protocol } from '../plan.gen.js';

/** From the extension's message, which hides the cluster's own older fields. */
export function findHttpOptions(
  message: ClusterMessage,
  place: Place,
  context: CompileContext,
): UpstreamHttpOptions {
  const map = place.field('typed_extension_protocol_options');
  let options: UpstreamHttpOptions | undefined;
  for (const [name, config] of Object.entries(message.typed_extension_protocol_options ?? {})) {
    const at = map.key(name);
    const extension = context.extensions.protocolOptions.find(
      (candidate) => candidate.type === config.$type,
    );
    if (extension?.name === name && !extension.isDisabled)
      options = extension.compile(config, at, context) ?? options;
    else
      at.error(`'${name}' (${config.$type}) is not supported yet as protocol options of a cluster`);
  }
  if (!options) return ownHttpOptions(message, place);
  for (const name of [
    'common_http_protocol_options',
    'http_protocol_options',
    'http2_protocol_options',
    'upstream_http_protocol_options',
  ] as const) {
    if (message[name])
      place.field(name).warn(`has no effect beside typed_extension_protocol_options`);
  }
  return options;
}

function ownHttpOptions(message: ClusterMessage, place: Place): UpstreamHttpOptions {
  const ofClient = message.protocol_selection === 'USE_DOWNSTREAM_PROTOCOL';
  if (!ofClient && message.http_protocol_options && message.http2_protocol_options) {
    place
      .field('http2_protocol_options')
      .error(
        "cluster: Both HTTP1 and HTTP2 options may only be configured with non-default 'protocol_selection' values",
        { related: place.field('http_protocol_options') },
      );
  }
  return {
    common: message.common_http_protocol_options,
    commonPlace: place.field('common_http_protocol_options'),
    http1: message.http_protocol_options,
    http1Place: place.field('http_protocol_options'),
    protocol: ofClient
      ? Protocol.OF_CLIENT
      : message.http2_protocol_options
        ? Protocol.HTTP2
        : Protocol.HTTP1,
    http2: message.http2_protocol_options ?? (ofClient ? {} : undefined),
    http2Place: place.field('http2_protocol_options'),
    sni: message.upstream_http_protocol_options,
    sniPlace: place.field('upstream_http_protocol_options'),
  };
}

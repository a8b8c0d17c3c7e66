// Layers of the runtime that come by RTDS.
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../build/messages.gen.js';
import { MISSING_SOURCE, compileConfigSource } from './config-source.js';
import type { SourceContext } from './grpc/api-config-source.js';
import type { Place } from './message/place.js';
import type { Source } from './sources.js';

export interface RtdsPlan {
  /** Of the layer. */
  readonly layer: string;
  /** Of the resource. */
  readonly name: string;
  readonly source: Source;
}

/** `place`: of the layers. */
export function compileRtds(
  bootstrap: Bootstrap,
  place: Place,
  context: SourceContext,
): readonly RtdsPlan[] {
  const type = 'envoy.service.runtime.v3.Runtime';
  return (bootstrap.layered_runtime?.layers ?? []).flatMap(
    ({ name: layer = '', rtds_layer: rtds }, index) => {
      if (!rtds) return [];
      const at = place.index(index).field('rtds_layer').field('rtds_config');
      if (!rtds.rtds_config) {
        at.error(MISSING_SOURCE, {
          expected: 'ads, api_config_source or path_config_source',
        });
      }
      const source = compileConfigSource(rtds.rtds_config, type, at, context);
      return source ? { layer, name: rtds.name ?? '', source } : [];
    },
  );
}

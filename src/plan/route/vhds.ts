// Where a route configuration gets more virtual hosts from (envoy.config.route.v3.Vhds).
import type { envoy_config_route_v3_RouteConfiguration as RouteConfiguration } from '../../../build/messages.gen.js';
import { compileConfigSource } from '../config-source.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import type { Source } from '../sources.js';

/** Undefined: there are none, or after an error. `place`: of the route configuration. */
export function compileVhds(
  { vhds }: RouteConfiguration,
  place: Place,
  context: CompileContext,
): Source | undefined {
  if (!vhds) return undefined;
  const at = place.field('vhds').field('config_source');
  const { ads, api_config_source: api } = vhds.config_source ?? {};
  if (ads && !context.hasAds) {
    at.error('vhds: ADS config source specified but no ADS configured in bootstrap.');
    return undefined;
  }
  if (ads && !context.isAdsDelta) {
    at.error('vhds: ADS must use DELTA_GRPC api_type when used as VHDS config source.');
    return undefined;
  }
  if (vhds.config_source && !ads && api?.api_type !== 'DELTA_GRPC') {
    at.error(
      "vhds: only 'DELTA_GRPC' or 'ADS' (which uses Delta xDS) is supported as a config source.",
      { expected: 'DELTA_GRPC' },
    );
    return undefined;
  }
  return compileConfigSource(vhds.config_source, 'envoy.config.route.v3.VirtualHost', at, context);
}

// envoy.filters.http.dynamic_forward_proxy
import type {
  envoy_extensions_filters_http_dynamic_forward_proxy_v3_FilterConfig as Message,
  envoy_extensions_filters_http_dynamic_forward_proxy_v3_PerRouteConfig as PerRoute,
  envoy_extensions_filters_http_dynamic_forward_proxy_v3_SubClusterConfig as SubCluster,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const PACKAGE = 'envoy.extensions.filters.http.dynamic_forward_proxy.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.FilterConfig`, [
  'dns_cache_config',
  'sub_cluster_config',
  'allow_dynamic_host_from_filter_state',
]);
const SUB_CLUSTER = supportedFields<SubCluster>(`${PACKAGE}.SubClusterConfig`, [
  'cluster_init_timeout',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.PerRouteConfig`, [
  'host_rewrite_literal',
  'host_rewrite_header',
]);

const DEFAULT_CLUSTER_TIMEOUT_MS = 5000;

export const dynamicForwardProxy = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.dynamic_forward_proxy',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const sub = config.sub_cluster_config ?? {};
    refuseOtherFields(place.field('sub_cluster_config'), sub, SUB_CLUSTER);
    const cache = context.names.add(config.dns_cache_config ?? {}, place.field('dns_cache_config'));
    return {
      dynamic_forward_proxy: {
        cache,
        cluster_timeout_ms: wholeMs(sub.cluster_init_timeout, DEFAULT_CLUSTER_TIMEOUT_MS),
        ...(config.allow_dynamic_host_from_filter_state && { asks_state: true }),
      },
    };
  },
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place) {
      refuseOtherFields(place, config, PER_ROUTE);
      return {
        name_rewrite: {
          literal: config.host_rewrite_literal,
          header: config.host_rewrite_header?.toLowerCase(),
        },
      };
    },
  },
});

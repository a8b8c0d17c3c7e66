// envoy.filters.http.upstream_codec: the end of what tries pass on their way to hosts.
import type { envoy_extensions_filters_http_upstream_codec_v3_UpstreamCodec as UpstreamCodec } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { UPSTREAM_CODEC } from './upstream-filters.js';

/** It is where the host is: nothing is to be done for it. */
export const upstreamCodec = defineExtension<UpstreamCodec, HttpFilterPlan>({
  name: 'envoy.filters.http.upstream_codec',
  type: UPSTREAM_CODEC,
  compile: () => ({}),
});

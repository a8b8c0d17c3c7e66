// envoy.filters.http.router
import type {
  envoy_extensions_filters_http_router_v3_Router as Router,
  envoy_extensions_filters_http_router_v3_Router_UpstreamAccessLogOptions as LogOptions,
} from '../../../build/messages.gen.js';
import { compileAccessLogs } from '../../plan/access-log/access-log.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { compileUpstreamFilters } from './upstream-filters.js';

const FIELDS = supportedFields<Router>('envoy.extensions.filters.http.router.v3.Router', [
  'dynamic_stats',
  'respect_expected_rq_timeout',
  'start_child_span',
  'suppress_envoy_headers',
  'strict_check_headers',
  'suppress_grpc_request_failure_code_stats',
  'upstream_http_filters',
  'reject_connect_request_early_data',
  'upstream_log',
  'upstream_log_options',
]);
const LOG_OPTIONS = supportedFields<LogOptions>(`${FIELDS.type}.UpstreamAccessLogOptions`, [
  'flush_upstream_log_on_upstream_stream',
  'upstream_log_flush_interval',
]);

export const router = defineExtension<Router, HttpFilterPlan>({
  name: 'envoy.filters.http.router',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const logs = config.upstream_log_options ?? {};
    refuseOtherFields(place.field('upstream_log_options'), logs, LOG_OPTIONS);
    return {
      router: {
        suppress_envoy_headers: config.suppress_envoy_headers,
        strict_check_headers: config.strict_check_headers?.map((name) => name.toLowerCase()),
        respect_expected_rq_timeout: config.respect_expected_rq_timeout,
        counts_no_answers: config.dynamic_stats === false,
        start_child_span: config.start_child_span,
        counts_no_grpc_failures: config.suppress_grpc_request_failure_code_stats,
        rejects_early_data: config.reject_connect_request_early_data,
        upstream_logs: compileAccessLogs(
          config.upstream_log,
          'http_log',
          place.field('upstream_log'),
          context,
        ),
        logs_upstream_start: logs.flush_upstream_log_on_upstream_stream,
        upstream_log_interval_ms: wholeMs(logs.upstream_log_flush_interval, 0),
        upstream_filters: compileUpstreamFilters(
          config.upstream_http_filters,
          place.field('upstream_http_filters'),
          context,
          'router upstream http',
        ),
      },
    };
  },
});

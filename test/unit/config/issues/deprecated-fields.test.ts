import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countDeprecatedUses } from '../../../../src/config/issues/deprecated-fields.js';
import type { Issue } from '../../../../src/config/issues/issue.js';

const uses = (path: string, severity: Issue['severity'] = 'warning') =>
  countDeprecatedUses([{ severity, code: 'deprecated_field', path, message: 'is deprecated' }]);

test('what is deprecated counts where extensions are made of it, twice in filter chains', () => {
  const chain = 'static_resources.listeners[0].filter_chains[0]';
  const manager = `${chain}.filters[0].typed_config`;
  assert.equal(uses(`${manager}.access_log_flush_interval`), 2);
  assert.equal(uses(`${manager}.http_filters[0].typed_config.value`), 2);
  assert.equal(uses(`${manager}.access_log[0].filter.header_filter.header.exact_match`), 2);
  assert.equal(uses(`${manager}.access_log[0].typed_config.format`), 1);
  assert.equal(uses(`${manager}.route_config.typed_per_filter_config["fault"].headers`), 1);
  assert.equal(uses(`${chain}.transport_socket.typed_config.common_tls_context`), 2);
  assert.equal(uses('resources[0].typed_config.headers[0].exact_match'), 2);
  assert.equal(uses('admin.access_log_path'), 1);
  assert.equal(uses('static_resources.listeners[0].access_log[0].typed_config.format'), 1);
  assert.equal(uses('static_resources.clusters[0].transport_socket.typed_config.x'), 1);
  const options = 'clusters[0].typed_extension_protocol_options["http"]';
  assert.equal(uses(`${options}.http_filters[0].typed_config.value`), 2);
  assert.equal(uses(`${options}.explicit_http_config.http_protocol_options.use_balsa_parser`), 1);
  assert.equal(uses('static_resources.clusters[0].max_requests_per_connection'), 0);
  assert.equal(
    uses('static_resources.clusters[0].load_balancing_policy.policies[0].typed_config.x'),
    0,
  );
});

test('what is refused, and what is not deprecated, does not count', () => {
  assert.equal(uses('a.filter_chains[0].filters[0].typed_config.x', 'error'), 0);
  assert.equal(countDeprecatedUses([{ severity: 'warning', path: 'a', message: 'late' }]), 0);
});

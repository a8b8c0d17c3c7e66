import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.admission_control.v3.AdmissionControl';
const filter = (fields: object) => ({ name: 'f', typed_config: any(TYPE, fields) });

test('admission control counts all but what ends in 5xx as success, unless it says otherwise', () => {
  const criteria = {
    http_criteria: {
      http_success_status: [
        { start: 200, end: 300 },
        { start: 404, end: 404 },
        { start: 50, end: 40 },
        { start: 600, end: 600 },
      ],
    },
    grpc_criteria: { grpc_success_status: [0, 17] },
  };
  const { issues, filters } = compiled([
    filter({}),
    filter({ success_criteria: criteria, sr_threshold: { default_value: {} } }),
  ]);
  assert.deepEqual(filters?.[0]?.admission_control?.http_success, [{ first: 0, end: 500 }]);
  assert.equal(filters?.[0]?.admission_control?.grpc_success?.length, 10);
  const text = issues.join('\n');
  assert.match(text, /invalid HTTP range: \[50, 40\)/);
  assert.match(text, /invalid HTTP range: \[600, 600\)/);
  assert.doesNotMatch(text, /404/);
  assert.match(text, /invalid gRPC code 17/);
  assert.match(text, /Success rate threshold cannot be less than 1.0%/);
});

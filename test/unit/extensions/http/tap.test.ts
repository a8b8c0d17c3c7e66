import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TAP = 'envoy.extensions.filters.http.tap.v3.Tap';

const tap = (common_config: object) => ({
  name: 'tap',
  typed_config: any(TAP, { common_config }),
});
const staticTap = (sink: object, match?: object) =>
  tap({ static_config: { match, output_config: { sinks: [sink] } } });
const FILE = { file_per_tap: { path_prefix: '/tmp/trace' } };

test('each tap has a number of its own', () => {
  const { issues, filters, taps } = compiled([
    tap({ admin_config: { config_id: 'mine' } }),
    staticTap(FILE, { any_match: true }),
  ]);
  assert.deepEqual(issues, []);
  assert.deepEqual(
    filters?.map((filter) => filter.tap?.id),
    [0, 1],
  );
  assert.deepEqual(taps[0], { configId: 'mine' });
});

test('a tap of the bootstrap needs conditions, and a file to write to', () => {
  assert.match(
    compiled([staticTap(FILE)]).issues.join(),
    /Neither match nor match_config is set in TapConfig/,
  );
  assert.match(
    compiled([staticTap({ streaming_admin: {} }, { any_match: true })]).issues.join(),
    /Specifying admin streaming output without configuring admin/,
  );
});

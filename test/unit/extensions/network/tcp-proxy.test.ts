import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TcpProxy_ConnectMode as Mode } from '../../../../src/plan/plan.gen.js';
import { any, compileStatic, issuesOf, listenerOf, TCP_PROXY } from '../../plan/helpers.js';

function tcp(fields: object) {
  const filter = any(TCP_PROXY, { stat_prefix: 't', cluster: 'origin', ...fields });
  const compiled = compileStatic({
    clusters: [{ name: 'origin' }],
    listeners: [listenerOf(filter)],
  });
  return {
    issues: issuesOf(compiled).join(),
    plan: compiled.update.listeners?.[0]?.filter_chains?.[0]?.tcp,
  };
}

test('a host is connected to at once, or once there is something for it', () => {
  assert.equal(tcp({}).plan?.connect_mode, Mode.IMMEDIATE);
  const late = tcp({ upstream_connect_mode: 'ON_DOWNSTREAM_DATA', max_early_data_bytes: 100 });
  assert.equal(late.issues, '');
  assert.equal(late.plan?.connect_mode, Mode.ON_DATA);
  assert.equal(late.plan.max_early_data_bytes, 100);
  assert.match(
    tcp({ upstream_connect_mode: 'ON_DOWNSTREAM_DATA' }).issues,
    /max_early_data_bytes must be set when upstream_connect_mode is not IMMEDIATE/,
  );
});

test('pauses between attempts grow to ten times the first, unless told otherwise', () => {
  const pauses = (backoff_options: object) => {
    const { backoff_base_ms: base, backoff_max_ms: max } = tcp({ backoff_options }).plan ?? {};
    return [base, max];
  };
  assert.deepEqual(pauses({ base_interval: 20 }), [20, 200]);
  assert.deepEqual(pauses({ base_interval: 20, max_interval: 30 }), [20, 30]);
  assert.match(
    tcp({ backoff_options: { base_interval: 20, max_interval: 10 } }).issues,
    /max_backoff_interval must be greater or equal to base_backoff_interval/,
  );
});

test('times of one side alone change nothing, and say so', () => {
  assert.match(tcp({ upstream_idle_timeout: 5 }).issues, /warning .*has no effect/);
});

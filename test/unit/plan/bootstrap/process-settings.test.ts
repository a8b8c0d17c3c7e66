import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownHeader, setHeaderPrefix } from '../../../../src/base/own-headers.js';
import type { Issue } from '../../../../src/config/issues/issue.js';
import { compileProcessSettings } from '../../../../src/plan/bootstrap/process-settings.js';
import { Place } from '../../../../src/plan/message/place.js';

function settings(bootstrap: object) {
  const issues: Issue[] = [];
  const place = Place.root(issues);
  const compiled = compileProcessSettings(bootstrap, place, place);
  return {
    ...compiled,
    issues: issues.map(({ severity, path, message }) => `${severity} ${path}: ${message}`),
  };
}

test('a bootstrap that says nothing changes nothing', () => {
  const { memoryReleaseMs, update, issues } = settings({});
  assert.deepEqual(issues, []);
  assert.equal(memoryReleaseMs, 0);
  assert.deepEqual(update.joined_request_headers, []);
});

test('headers of the proxy begin as they are told to', (t) => {
  t.after(() => {
    setHeaderPrefix('');
  });
  assert.equal(ownHeader('attempt-count'), 'x-envoy-attempt-count');
  assert.equal(settings({ header_prefix: 'x-mesh' }).update.header_prefix, 'x-mesh');
  assert.equal(ownHeader('attempt-count'), 'x-mesh-attempt-count');
});

test('headers that come several times are joined where they are named', () => {
  const inline_headers = [
    { inline_header_name: 'X-Ask' },
    { inline_header_name: 'x-tell', inline_header_type: 'RESPONSE_HEADER' },
  ];
  const { update } = settings({ inline_headers });
  assert.deepEqual(update.joined_request_headers, ['x-ask']);
  assert.deepEqual(update.joined_response_headers, ['x-tell']);
  const trailer = { inline_header_name: 'x', inline_header_type: 'REQUEST_TRAILER' };
  assert.match(
    settings({ inline_headers: [trailer] }).issues.join(),
    /REQUEST_TRAILER is not supported: trailers are not joined/,
  );
});

test('unused memory is given back in the time that is asked for', () => {
  const releaseMs = (memory_allocator_manager: object): number =>
    settings({ memory_allocator_manager }).memoryReleaseMs;
  assert.equal(releaseMs({}), 0);
  assert.equal(releaseMs({ bytes_to_release: 1000 }), 1000);
  assert.equal(releaseMs({ bytes_to_release: 1, memory_release_interval: 5000 }), 5000);
});

test('what the process cannot do is said', () => {
  const cases = [
    [{ default_socket_interface: 'x' }, /warning default_socket_interface: .* no 'x'/],
    [{ perf_tracing_file_path: '/x' }, /warning perf_tracing_file_path: has no effect/],
    [{ stats_eviction_interval: 3000, stats_flush_interval: 2000 }, /must be a multiple/],
    [{ fatal_actions: [{ config: { name: 'x' } }] }, /fatal_actions\[0\]\.config/],
  ] as const;
  for (const [bootstrap, expected] of cases) {
    assert.match(settings(bootstrap).issues.join(), expected);
  }
});

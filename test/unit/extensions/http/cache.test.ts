import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const STORES = 'envoy.extensions.http.cache';
const MEMORY = any(`${STORES}.simple_http_cache.v3.SimpleHttpCacheConfig`, {});
const files = (fields: object) =>
  any(`${STORES}.file_system_http_cache.v3.FileSystemHttpCacheConfig`, {
    manager_config: { thread_pool: { thread_count: 2 } },
    cache_path: '/var/kept',
    ...fields,
  });
const filter = (fields: object) => ({
  name: 'c',
  typed_config: any('envoy.extensions.filters.http.cache.v3.CacheConfig', fields),
});
const cacheOf = (fields: object) => {
  const { issues, filters } = compiled([filter(fields)]);
  assert.deepEqual(issues, []);
  return filters?.[0]?.cache;
};

test('answers are kept in memory, by what of their requests they may vary', () => {
  const cache = cacheOf({
    typed_config: MEMORY,
    allowed_vary_headers: [{ exact: 'accept' }],
    ignore_request_cache_control_header: true,
  });
  assert.deepEqual(cache?.memory, {});
  assert.equal(cache.allowed_vary_headers?.length, 1);
  assert.equal(cache.ignores_request_cache_control, true);
});

test('answers are kept in files, whose folder ends with a slash', () => {
  const cache = cacheOf({
    typed_config: files({ max_cache_size_bytes: 7, max_cache_entry_count: 8 }),
  });
  assert.equal(cache?.files?.path, '/var/kept/');
  assert.equal(cache.files.threads, 2);
  assert.equal(cache.files.max_bytes, 7);
  assert.equal(cache.files.max_entries, 8);
});

test('a cache that is off needs no store, any other does', () => {
  assert.equal(cacheOf({ disabled: true })?.memory, undefined);
  const { issues } = compiled([filter({})]);
  assert.match(issues.join('\n'), /at least one of typed_config or disabled must be set/);
});

test('a folder has one kind of settings, and so has a manager of threads', () => {
  const both = (fields: object) =>
    compiled([filter({ typed_config: files({}) }), filter({ typed_config: files(fields) })]).issues;
  assert.deepEqual(both({}), []);
  assert.match(
    both({ max_cache_size_bytes: 1 }).join('\n'),
    /mismatched FileSystemHttpCacheConfig/,
  );
  const other = { manager_config: { thread_pool: { thread_count: 3 } }, cache_path: '/other' };
  assert.match(both(other).join('\n'), /AsyncFileManager mismatched config/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const BUFFER = 'envoy.extensions.filters.http.buffer.v3.Buffer';
const SOURCE = { path_config_source: { path: '/dev/null' } };
const url = (type: string): string => `type.googleapis.com/${type}`;
const later = (discovery: object) => ({
  name: 'later',
  config_discovery: { config_source: SOURCE, type_urls: [url(BUFFER)], ...discovery },
});
const messages = (discovery: object): string => compiled([later(discovery)]).issues.join('\n');

test('a filter that comes later has a place in the chain, which is empty', () => {
  const { issues, filters } = compiled([later({})]);
  assert.deepEqual(issues, []);
  assert.equal(filters?.[0]?.name, 'later');
  assert.deepEqual(filters?.[0]?.discovered?.filter, []);
});

test('what nobody waits for begins with its default', () => {
  const { issues, filters } = compiled([
    later({
      default_config: any(BUFFER, { max_request_bytes: 7 }),
      apply_default_config_without_warming: true,
    }),
  ]);
  assert.deepEqual(issues, []);
  const [first] = filters?.[0]?.discovered?.filter ?? [];
  assert.deepEqual(first?.buffer, { max_request_bytes: 7 });
});

test('types that there are not, routers and other defaults are refused', () => {
  assert.match(
    messages({ type_urls: [url('no.such.Type')] }),
    /Error: no factory found for a required type URL type\.googleapis\.com\/no\.such\.Type\./,
  );
  assert.match(
    messages({ type_urls: [url('envoy.extensions.filters.http.router.v3.Router')] }),
    /router .* by config_discovery is not supported/,
  );
  assert.match(
    messages({ apply_default_config_without_warming: true }),
    /Error: filter config later applied without warming but has no default config\./,
  );
  assert.match(
    messages({
      default_config: any('envoy.extensions.filters.http.cors.v3.Cors', {}),
    }),
    /Error: filter config has type URL \S+Cors but expect \S+Buffer\./,
  );
});

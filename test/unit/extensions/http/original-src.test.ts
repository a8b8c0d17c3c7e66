import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.original_src.v3.OriginalSrc';

test('original_src marks what it connects as it is told to', () => {
  const filter = (fields: object) => ({ name: 'src', typed_config: any(TYPE, fields) });
  const { filters, issues } = compiled([filter({ mark: 7 }), filter({})]);
  assert.deepEqual(issues, []);
  assert.deepEqual(
    filters?.slice(0, 2).map(({ original_src: plan }) => plan?.mark ?? 0),
    [7, 0],
  );
});

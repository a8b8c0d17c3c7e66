import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBug } from '../../../src/base/bugs.js';
import { Tokens, type TokensHost } from '../../../src/credentials/tokens.js';
import { LiveSources, type TokenSource } from '../../../src/plan/live-sources.js';

test('what is thrown as the first token is fetched is told, and does not end the start', async (t) => {
  const told: unknown[] = [];
  t.after(onBug((where, thrown) => told.push([where, thrown])));
  const wrong = new Error('not read');
  const live = new LiveSources();
  live.add({
    kind: 'token',
    secret: () => {
      throw wrong;
    },
  } as unknown as TokenSource);
  const tokens = new Tokens(live, { native: {}, stats: {} } as unknown as TokensHost);
  await tokens.start();
  tokens.stop();
  assert.deepEqual(told, [['a fetch of a token', wrong]]);
});

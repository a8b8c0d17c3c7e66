import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROTOCOL_VERSION, hotRestartVersion } from '../../../src/hot-restart/version.js';
import { packageRoot } from '../../../src/base/package-root.js';

/** Of what processes of a version say to each other, without its comments and blanks. */
const PROTOCOLS: Readonly<Record<number, string>> = {
  1: 'ef5c529c55664549',
  2: 'a918476d42c2fa79',
  3: 'b97f3144e766cce6',
  4: '299c32ea0f8a5394',
  5: 'aada99453b269b45',
};

test('whoever changes a message raises the version of the protocol', () => {
  const text = readFileSync(join(packageRoot(), 'proto/fairlead/hot_restart.proto'), 'utf8');
  const bare = text.replace(/\/\/.*$/gm, '').replace(/\s+/g, ' ');
  const digest = createHash('sha256').update(bare).digest('hex').slice(0, 16);

  assert.equal(PROTOCOLS[PROTOCOL_VERSION], digest);
});

test('the version names the protocol and the layout of the shared memory', () => {
  assert.equal(hotRestartVersion({ layoutVersion: 7 }), `${PROTOCOL_VERSION}.7`);
});

// Files that are looked at every so often: when what they say is taken, and when it is nothing new.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { FileSubscription } from '../../../src/xds/file-subscription.js';
import type { SubscriptionHost } from '../../../src/xds/subscription-host.js';
import type { Updates } from '../../../src/xds/updates.js';

const POLL_MS = 1000;

/** A file, and the versions of it that were taken or refused, with "again" for what was nothing new. */
function start(context: TestContext, refused: readonly string[] = []) {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const folder = mkdtempSync(join(tmpdir(), 'file-subscription-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'resources.json');
  const write = (version: string): void =>
    writeFileSync(path, JSON.stringify({ version_info: version }));
  const heard: string[] = [];
  const updates = {
    count: () => undefined,
    take: (_: unknown, version: string) => {
      heard.push(version);
      return refused.includes(version) ? 'no' : undefined;
    },
    tellNothingNew: () => heard.push('again'),
  } as unknown as Updates;
  const host = {
    stats: { count: () => undefined, countDeprecated: () => undefined },
    log: () => undefined,
    unknownFields: 'told',
  } as unknown as SubscriptionHost;
  const source = { kind: 'file', path, watchesWrites: false, pollMs: POLL_MS } as const;
  const subscription = new FileSubscription(source, updates, host);
  write('a');
  subscription.start(() => undefined);
  context.after(() => subscription.stop());
  return {
    heard,
    subscription,
    poll: (version: string) => {
      write(version);
      context.mock.timers.tick(POLL_MS);
    },
  };
}

test('what is put back after an update that was refused, maybe in part, is taken again', (t) => {
  const { heard, poll } = start(t, ['b']);
  poll('a');
  poll('b');
  poll('a');
  poll('a');
  assert.deepEqual(heard, ['a', 'again', 'b', 'a', 'again']);
});

test('what is asked for once more is taken, though the file is as it was', (t) => {
  const { heard, poll, subscription } = start(t);
  subscription.refresh();
  poll('a');
  assert.deepEqual(heard, ['a', 'a', 'again']);
});

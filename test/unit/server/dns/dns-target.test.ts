import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBug } from '../../../../src/base/bugs.js';
import type { DnsClusterPlan } from '../../../../src/plan/cluster/dns-cluster.js';
import { DnsTarget } from '../../../../src/server/dns/dns-target.js';
import type { DnsAnswer, NameResolver } from '../../../../src/server/dns/name-resolver.js';

test('a name whose answer brought a bug to light is asked for again', async (t) => {
  const bugs: unknown[] = [];
  t.after(onBug((_, thrown) => bugs.push(thrown)));
  const lost = new Error('lost');
  const plan = { name: 'c', kind: 'strict', lookup: 'AUTO', refreshMs: 1, respectTtl: false };
  const answer: DnsAnswer = { kind: 'addresses', addresses: ['10.0.0.1'], ttlMs: 0 };
  const resolver = { lookup: () => Promise.resolve(answer) };
  // The next question does not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    const target = new DnsTarget(
      'a.test',
      plan as unknown as DnsClusterPlan,
      resolver as unknown as NameResolver,
      {
        onChange: () => {
          throw lost;
        },
        onAnswer: () => undefined,
        onFirstAnswer: () => order.push('first answer'),
        count: (stat) => {
          order.push(stat);
          if (stat === 'update_no_rebuild') resolve();
        },
        log: () => undefined,
        questions: { began: () => undefined, ended: () => undefined } as never,
        random: () => 0,
      },
    );
    t.after(() => target.stop());
    target.start();
  });

  assert.deepEqual(bugs, [lost]);
  assert.deepEqual(order, [
    ...['update_attempt', 'update_success', 'first answer'],
    ...['update_attempt', 'update_success', 'update_no_rebuild'],
  ]);
});

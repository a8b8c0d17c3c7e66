import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DynamicChain } from '../../../src/plan/listener/lds-plan.js';
import type { HeldSecret } from '../../../src/plan/live-sources.js';
import type { SecretRequest } from '../../../src/plan/secret-request.js';
import { needsOf, type NeedSources } from '../../../src/xds/listener-needs.js';
import type { Change } from '../../../src/xds/listener-round.js';

const secret = (name: string): SecretRequest => ({
  kind: 'generic_secret',
  name,
  source: { kind: 'ads', initialFetchTimeoutMs: 0 },
});

const chain = (...secrets: readonly HeldSecret[]): DynamicChain =>
  ({
    ...{ secrets, discovered: [], routes: { requested: new Set(), hasScopes: false } },
    sockets: [{ recipe: { requests: [secret('certificate')] } }],
  }) as unknown as DynamicChain;

const held = (name: string): HeldSecret => ({ request: secret(name), release: () => undefined });

/** The names of secrets that are awaited for the change. */
async function awaited(change: Partial<Change>): Promise<readonly string[]> {
  const names: string[] = [];
  const sources: NeedSources = {
    routes: () => undefined,
    filter: () => undefined,
    secrets: (requests) => {
      names.push(...requests.map(({ name }) => name));
      return requests.length > 0 ? Promise.resolve() : undefined;
    },
    rest: () => undefined,
  };
  const needs = needsOf({ discovered: [], secrets: [], ...change } as unknown as Change, sources);
  assert.equal(needs !== undefined, names.length > 0);
  await needs;
  return names;
}

test('a listener waits for secrets of its sockets, filters and formats that are new', async () => {
  const stays = chain(held('there'));
  const chains = new Map([
    ['stays', stays],
    ['fresh', chain(held('of a filter'))],
  ]);
  const known = new Map([['stays', stays]]);
  const secrets = [held('of a log')];
  assert.deepEqual(await awaited({ chains, known, secrets, isInPlace: false }), [
    'of a log',
    'of a filter',
    'certificate',
  ]);
  assert.deepEqual(await awaited({ chains, known, secrets, isInPlace: true }), [
    'of a filter',
    'certificate',
  ]);
  assert.deepEqual(await awaited({ chains: known, known, secrets, isInPlace: true }), []);
});

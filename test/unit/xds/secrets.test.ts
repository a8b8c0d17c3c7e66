// Secrets of listeners of the bootstrap: known of from the beginning, asked for once clusters are there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy } from '../../../src/native.js';
import { LiveSources } from '../../../src/plan/live-sources.js';
import type { SecretRequest } from '../../../src/plan/secret-request.js';
import type { TlsSocketPlan } from '../../../src/plan/tls-socket.js';
import { Secrets } from '../../../src/xds/secrets.js';
import type { Subscribing } from '../../../src/xds/subscription.js';

const REQUEST: SecretRequest = {
  kind: 'generic_secret',
  name: 's',
  source: { kind: 'ads', initialFetchTimeoutMs: 0 },
};

const SOCKET = {
  files: [],
  recipe: { requests: [REQUEST], make: () => undefined },
} as unknown as TlsSocketPlan;

function start() {
  const asked: string[] = [];
  const native = {
    addSdsStats: () => 'sds.',
    removeStats: () => undefined,
    apply: () => [],
  } as unknown as NativeProxy;
  const host = {
    planes: {
      transport: ({ names }: { readonly names: readonly string[] }) => ({
        start: () => asked.push(...names),
        stop: () => undefined,
        refresh: () => undefined,
      }),
    },
    targets: { add: () => () => undefined },
    stats: { count: () => undefined, setGauge: () => undefined },
    log: () => undefined,
  } as unknown as Subscribing;
  const live = new LiveSources();
  const secrets = new Secrets(native, host, live);
  const ofListener = () =>
    live.ofListeners(() => live.add({ kind: 'secret', request: REQUEST, use: 'filter' }));
  const shown = () => secrets.current.map(({ name }) => name);
  return { asked, live, ofListener, secrets, shown };
}

test('a secret that nobody wants any more before it is asked for is forgotten', () => {
  const { asked, live, ofListener, secrets, shown } = start();
  const [one, other] = [ofListener(), ofListener()];
  secrets.start();
  assert.deepEqual(shown(), ['s']);
  live.release(one);
  assert.deepEqual(shown(), ['s']);
  live.release(other);
  assert.deepEqual(shown(), []);
  secrets.startOfListeners();
  assert.deepEqual(asked, []);
  // As one that has never been there.
  ofListener();
  assert.deepEqual(shown(), ['s']);
  secrets.startOfListeners();
  assert.equal(asked.length, 1);
  secrets.stop();
});

test('one that a socket of a listener will want stays until that is there', () => {
  const { asked, live, ofListener, secrets, shown } = start();
  secrets.start();
  secrets.announce(SOCKET);
  live.release(ofListener());
  assert.deepEqual(shown(), ['s']);
  assert.deepEqual(asked, []);
  secrets.add(SOCKET);
  assert.equal(asked.length, 1);
  secrets.remove(SOCKET);
  assert.deepEqual(shown(), []);
});

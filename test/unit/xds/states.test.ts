// What control planes are told: the requests of both kinds of streams, as the schema reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadAny } from '../../../src/config/load-any.js';
import { CDS, EDS, LEDS, SRDS, VHDS, urlOf, type DiscoveryApi } from '../../../src/xds/api.js';
import { DeltaState } from '../../../src/xds/delta-state.js';
import type { DiscoveryResponse, RawResource } from '../../../src/xds/discovery-wire.js';
import { SotwState } from '../../../src/xds/sotw-state.js';
import type { TypeState } from '../../../src/xds/type-state.js';
import type { KnownResource, Watcher } from '../../../src/xds/watcher.js';

type Message = Readonly<Record<string, unknown>>;

const resource = (name: string, version = ''): KnownResource => ({
  name,
  version,
  message: { name },
});
const response = (
  api: DiscoveryApi,
  version: string,
  nonce: string,
  removed: readonly string[] = [],
): DiscoveryResponse => ({
  ...{ version, nonce, removed, url: urlOf(api), resources: [], identifier: '' },
});

class Recorder implements Watcher {
  readonly names: readonly string[];
  readonly heard: string[] = [];
  readonly all: (readonly KnownResource[])[] = [];
  wrong: string | undefined;

  constructor(...names: readonly string[]) {
    this.names = names;
  }

  onUpdate(
    resources: readonly KnownResource[],
    version: string,
    removed: readonly string[] = [],
  ): string | undefined {
    const words = [...resources.map(({ name }) => name), ...removed.map((name) => `-${name}`)];
    this.heard.push(`${version}: ${words.join(' ')}`);
    this.all.push(resources);
    return this.wrong;
  }
  onRefused(why: string): void {
    this.heard.push(`refused: ${why}`);
  }
  onAbsent(): void {
    this.heard.push('absent');
  }
  onFailure(): void {
    this.heard.push('failure');
  }
}

/** The next request, without what is empty; undefined: there is none. */
function next(state: TypeState, kind: 'DiscoveryRequest' | 'DeltaDiscoveryRequest'): unknown {
  const bytes = state.nextRequest(undefined)?.();
  if (!bytes) return undefined;
  const type = `envoy.service.discovery.v3.${kind}`;
  const { message, issues } = loadAny(`type.googleapis.com/${type}`, bytes, {});
  assert.deepEqual(issues, []);
  const { $type: _, type_url, error_detail, ...rest } = message as Message;
  assert.equal(type_url, state.url);
  const detail = error_detail as Message | undefined;
  return { ...rest, ...(detail && { error: [detail['code'], detail['message']] }) };
}

test('a stream of the state of the world asks, takes, refuses, and says what it has when it is new', async () => {
  const state = new SotwState(EDS);
  const ask = (): unknown => next(state, 'DiscoveryRequest');
  assert.equal(ask(), undefined);
  const one = new Recorder('one');
  state.add(one);
  assert.deepEqual(ask(), { resource_names: ['one'] });
  assert.equal(ask(), undefined);

  await state.take(response(EDS, 'v1', 'n1'), [resource('one'), resource('other')]);
  assert.deepEqual(one.heard, ['v1: one']);
  assert.deepEqual(ask(), { version_info: 'v1', resource_names: ['one'], response_nonce: 'n1' });

  one.wrong = 'endpoints[0]: no';
  await state.take(response(EDS, 'v2', 'n2'), [resource('one')]);
  assert.deepEqual(ask(), {
    ...{ version_info: 'v1', resource_names: ['one'], response_nonce: 'n2' },
    error: [13, 'endpoints[0]: no'],
  });
  state.refuse(response(EDS, 'v3', 'n3'), 'garbage');
  assert.equal(one.heard.at(-1), 'refused: garbage');
  assert.deepEqual(ask(), {
    ...{ version_info: 'v1', resource_names: ['one'], response_nonce: 'n3' },
    error: [13, 'garbage'],
  });

  state.opened();
  assert.deepEqual(ask(), { version_info: 'v1', resource_names: ['one'] });
});

test('a plain stream hears of a type once somebody has asked, and takes nothing unasked', async () => {
  const state = new SotwState(EDS);
  const ask = (): unknown => next(state, 'DiscoveryRequest');
  const one = new Recorder('one');
  state.add(one);
  ask();
  await state.take(response(EDS, 'v1', 'n1'), [resource('one')]);
  ask();
  state.remove(one);
  assert.deepEqual(ask(), { version_info: 'v1', response_nonce: 'n1' });
  const raw = {
    name: '',
    version: '',
    url: urlOf(EDS),
    bytes: Buffer.of(),
    isHeartbeat: false,
  };
  await state.take({ ...response(EDS, 'v2', 'n2'), resources: [raw] }, [resource('one')]);
  assert.deepEqual(ask(), { version_info: 'v1', response_nonce: 'n2' });
  await state.take(response(EDS, 'v3', 'n3'), []);
  assert.equal(ask(), undefined);
  state.opened();
  assert.deepEqual(ask(), { version_info: 'v3' });
});

test('a request of a plain stream that has had to wait tells what is so by then, a refusal once', async () => {
  const state = new SotwState(EDS);
  const one = new Recorder('one');
  state.add(one);
  state.nextRequest(undefined);
  await state.take(response(EDS, '1', '2'), [resource('one')]);
  const early = state.nextRequest(undefined);
  one.wrong = 'no good';
  await state.take(response(EDS, '2', '3'), [resource('one')]);
  const late = state.nextRequest(undefined);
  const say = (encode: (() => Buffer) | undefined): unknown =>
    next({ url: state.url, nextRequest: () => encode } as unknown as TypeState, 'DiscoveryRequest');
  const now = { version_info: '1', response_nonce: '2', resource_names: ['one'] };
  assert.deepEqual(say(early), { ...now, response_nonce: '3', error: [13, 'no good'] });
  assert.deepEqual(say(late), { ...now, response_nonce: '3' });
});

test('what was asked for last comes first on plain streams; incremental ones have an order of their own', () => {
  const [plain, delta] = [new SotwState(EDS), new DeltaState(EDS)];
  for (const name of ['b', 'c', 'a'])
    for (const state of [plain, delta]) state.add(new Recorder(name));
  assert.deepEqual(next(plain, 'DiscoveryRequest'), { resource_names: ['a', 'c', 'b'] });
  assert.deepEqual(next(delta, 'DeltaDiscoveryRequest'), {
    resource_names_subscribe: ['a', 'b', 'c'],
  });
});

test('beside all that there is single names are asked for: later at first, at once on other streams', async () => {
  const state = new DeltaState(CDS);
  const ask = (): unknown => next(state, 'DeltaDiscoveryRequest');
  state.add(new Recorder());
  state.ask('r/b');
  state.ask('r/a');
  state.ask('s/c');
  assert.deepEqual(ask(), {});
  assert.deepEqual(ask(), { resource_names_subscribe: ['r/a', 'r/b', 's/c'] });
  state.ask('r/a', true);
  assert.equal(ask(), undefined);
  state.ask('s/c');
  assert.deepEqual(ask(), { resource_names_subscribe: ['s/c'] });
  const nothing = { name: 'r/b', version: '7', aliases: ['r/b'], isHeartbeat: true };
  const empty = { ...nothing, url: '', bytes: Buffer.alloc(0) };
  const told = { ...response(CDS, 's1', 'n1'), resources: [empty] };
  await state.take(told, [resource('r/a', '1')]);
  assert.deepEqual(ask(), { response_nonce: 'n1' });
  state.opened();
  assert.deepEqual(ask(), {
    resource_names_subscribe: ['*', 'r/a', 'r/b', 's/c'],
    initial_resource_versions: { 'r/a': '1', 'r/b': '7' },
  });
  assert.equal(ask(), undefined);

  state.forgetAsked('r/');
  assert.deepEqual(ask(), { resource_names_unsubscribe: ['r/a', 'r/b'] });
  state.opened();
  assert.deepEqual(ask(), {
    resource_names_subscribe: ['*', 's/c'],
    initial_resource_versions: { 'r/a': '1' },
  });
});

test('of an incremental stream only what somebody asks for is looked at', () => {
  const state = new DeltaState(EDS);
  const raw = (name: string): RawResource => ({
    ...{ name, version: '', url: urlOf(EDS), bytes: Buffer.alloc(0), isHeartbeat: false },
  });
  const told = { ...response(EDS, 'v', 'n'), resources: [raw('a'), raw('b'), raw('c')] };
  const wanted = (): readonly string[] => state.wantedOf(told).resources.map(({ name }) => name);
  state.add(new Recorder('b'));
  assert.deepEqual(wanted(), ['b']);
  state.ask('c');
  assert.deepEqual(wanted(), ['b', 'c']);
  state.add(new Recorder());
  assert.deepEqual(wanted(), ['a', 'b', 'c']);
});

test('what one of those who ask refuses counts as refused for all of them, once', async () => {
  for (const state of [new SotwState(EDS), new DeltaState(EDS)]) {
    const [one, two] = [new Recorder('one'), new Recorder('two')];
    state.add(one);
    state.add(two);
    one.wrong = 'no';
    await state.take(response(EDS, 'v1', 'n1'), [resource('one'), resource('two')]);
    assert.deepEqual(one.heard, ['v1: one']);
    assert.deepEqual(two.heard, ['v1: two', 'refused: no']);
    one.wrong = undefined;
    await state.take(response(EDS, 'v2', 'n2'), [resource('one')]);
    assert.deepEqual(one.heard, ['v1: one', 'v2: one']);
    assert.equal(two.heard.length, 2);
  }
});

test('who asks for what has come has it at once, and the control plane is not asked again', async () => {
  const state = new SotwState(EDS);
  const first = new Recorder('one');
  state.add(first);
  next(state, 'DiscoveryRequest');
  await state.take(response(EDS, 'v1', 'n1'), [resource('one')]);
  next(state, 'DiscoveryRequest');
  state.remove(first);
  const second = new Recorder('one');
  state.add(second);
  assert.deepEqual(second.heard, ['v1: one']);
  assert.equal(next(state, 'DiscoveryRequest'), undefined);

  state.remove(second);
  assert.deepEqual(next(state, 'DiscoveryRequest'), { version_info: 'v1', response_nonce: 'n1' });
  const third = new Recorder('one');
  state.add(third);
  assert.deepEqual(third.heard, []);
});

test('an incremental stream tells what changes of what it asks, and what it has when it is new', async () => {
  const state = new DeltaState(EDS);
  const ask = (): unknown => next(state, 'DeltaDiscoveryRequest');
  const [one, two] = [new Recorder('one'), new Recorder('two')];
  state.add(one);
  assert.deepEqual(ask(), { resource_names_subscribe: ['one'] });
  state.add(two);
  assert.deepEqual(ask(), { resource_names_subscribe: ['two'] });

  await state.take(response(EDS, 's1', 'n1', ['two']), [resource('one', '7')]);
  assert.deepEqual([one.heard, two.heard], [['s1: one'], ['absent']]);
  state.refuse(response(EDS, 's2', 'n2'), 'garbage');
  assert.deepEqual(ask(), { response_nonce: 'n1' });
  assert.deepEqual(ask(), { response_nonce: 'n2', error: [13, 'garbage'] });
  assert.equal(ask(), undefined);

  state.opened();
  assert.deepEqual(ask(), {
    resource_names_subscribe: ['one', 'two'],
    initial_resource_versions: { one: '7' },
  });
  state.remove(two);
  assert.deepEqual(ask(), { resource_names_unsubscribe: ['two'] });
});

test('what an incremental stream brings unasked is not kept for whoever asks later', async () => {
  const state = new DeltaState(EDS);
  const [one, two] = [new Recorder('one'), new Recorder('two')];
  state.add(one);
  next(state, 'DeltaDiscoveryRequest');
  await state.take(response(EDS, 's1', 'n1'), [resource('one', '1'), resource('two', '1')]);
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), { response_nonce: 'n1' });
  state.add(two);
  assert.deepEqual(two.heard, []);
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), { resource_names_subscribe: ['two'] });
  state.opened();
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), {
    resource_names_subscribe: ['one', 'two'],
    initial_resource_versions: { one: '1' },
  });
});

test('who asks an incremental stream for all is told of what changes and of what is gone', async () => {
  const state = new DeltaState(CDS);
  const all = new Recorder();
  state.add(all);
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), {});
  await state.take(response(CDS, 's1', 'n1'), [resource('a', '1'), resource('b', '1')]);
  await state.take(response(CDS, 's2', 'n2', ['a']), [resource('c', '1')]);
  assert.deepEqual(all.heard, ['s1: a b', 's2: c -a']);

  // What is refused is not kept.
  all.wrong = 'no';
  await state.take(response(CDS, 's3', 'n3', ['b']), []);
  state.opened();
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), {
    initial_resource_versions: { b: '1', c: '1' },
  });
});

test('the first who refuses is the last who is told, and what came before goes on', async () => {
  for (const state of [new SotwState(EDS), new DeltaState(EDS)]) {
    const watchers = ['one', 'two', 'three'].map((name) => new Recorder(name));
    for (const watcher of watchers) state.add(watcher);
    const [one, two, three] = watchers;
    if (two) two.wrong = 'no';
    const all = ['one', 'two', 'three'].map((name) => resource(name, '1'));
    await state.take(response(EDS, 'v1', 'n1'), all);
    assert.deepEqual(one?.heard, ['refused: no']);
    assert.deepEqual(two?.heard, ['v1: two']);
    assert.deepEqual(three?.heard, ['v1: three', 'refused: no']);
  }
});

test('a watcher of a collection is told of what changes in it, and of nothing else', async () => {
  const state = new DeltaState(CDS);
  const at = (path: string): string => `xdstp://a/T/${path}`;
  const watcher = Object.assign(new Recorder(at('web/*')), { isCollection: true });
  const one = new Recorder(at('own?a=1&b=2'));
  state.add(watcher);
  state.add(one);
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), {
    resource_names_subscribe: [at('own?a=1&b=2'), at('web/*')],
  });
  const some = [at('web/1'), at('web/2'), at('own?b=2&a=1')].map((name) => resource(name));
  await state.take(response(CDS, 'v1', 'n1'), some);
  await state.take(response(CDS, 'v2', 'n2'), [resource(at('other/1')), resource(at('web/3'))]);
  await state.take(response(CDS, 'v3', 'n3', [at('web/1')]), []);
  await state.take(response(CDS, 'v4', 'n4'), [resource(at('own?a=1&b=2'))]);
  await state.take(response(CDS, 'v5', 'n5'), []);
  await state.take(response(CDS, 'v6', 'n6', [at('other/1')]), []);
  assert.deepEqual(watcher.heard, [
    `v1: ${at('web/1')} ${at('web/2')}`,
    `v2: ${at('web/3')}`,
    `v3: -${at('web/1')}`,
  ]);
  assert.deepEqual(one.heard, [`v1: ${at('own?b=2&a=1')}`, `v4: ${at('own?a=1&b=2')}`]);
});

test('a name that is there twice: plain streams take the first, incremental ones refuse all', async () => {
  const plain = new SotwState(EDS);
  const one = new Recorder('one');
  plain.add(one);
  await plain.take(response(EDS, 'v1', 'n1'), [resource('one', 'a'), resource('one', 'b')]);
  assert.deepEqual(
    one.all.map((all) => all.map(({ version }) => version)),
    [['a']],
  );
  assert.equal(plain.known.get('one')?.version, 'a');
  const delta = new DeltaState(CDS);
  const all = new Recorder();
  delta.add(all);
  next(delta, 'DeltaDiscoveryRequest');
  const raw = { version: '', url: urlOf(CDS), bytes: Buffer.alloc(0), isHeartbeat: false };
  const twice = [
    { name: 'a', ...raw },
    { name: 'a', ...raw },
  ];
  await delta.take({ ...response(CDS, 'v1', 'n1'), resources: twice }, [
    resource('a'),
    resource('a'),
  ]);
  const both = { ...response(CDS, 'v2', 'n2', ['b']), resources: [{ name: 'b', ...raw }] };
  await delta.take(both, [resource('b')]);
  assert.deepEqual(all.heard, [
    'refused: duplicate name a found among added/updated resources',
    'refused: duplicate name b found in the union of added+removed resources',
  ]);
});

test('what says nothing is the heartbeat of the same version, an answer by another name, or refused', async () => {
  const delta = new DeltaState(CDS);
  const all = new Recorder();
  delta.add(all);
  next(delta, 'DeltaDiscoveryRequest');
  const empty = { url: '', bytes: Buffer.alloc(0), isHeartbeat: true };
  const told = (version: string, aliases: readonly string[] = []): DiscoveryResponse => ({
    ...response(CDS, 'v2', 'n2'),
    resources: [{ name: 'a', version, aliases, ...empty }],
  });
  await delta.take(response(CDS, 'v1', 'n1'), [resource('a', '1')]);
  await delta.take(told('1'), []);
  await delta.take(told('2', ['a']), []);
  assert.equal(all.heard.filter((line) => line.startsWith('refused')).length, 0);
  await delta.take(told('2'), []);
  assert.match(
    all.heard.at(-1) ?? '',
    /^refused: type URL {2}embedded in an individual Any does not match/,
  );
});

test('a heartbeat is told to nobody, an answer by another name to whom it is for', async () => {
  const state = new DeltaState(CDS);
  const hosts = Object.assign(new Recorder(), { prefix: 'r/' });
  state.add(hosts);
  await state.take(response(CDS, 'v1', 'n1'), [resource('r/a', '1')]);
  const empty = { url: '', bytes: Buffer.alloc(0), isHeartbeat: true };
  const told = (name: string, aliases: readonly string[]): DiscoveryResponse => ({
    ...response(CDS, 'v2', 'n2'),
    resources: [{ name, version: '1', aliases, ...empty }],
  });
  hosts.heard.length = 0;
  await state.take(told('r/a', []), []);
  assert.deepEqual(hosts.heard, []);
  await state.take(told('r/none', ['r/other']), []);
  assert.deepEqual(hosts.heard, ['v2: ']);
});

/** As Recorder, but of updates that are all that there is each says so. */
class WholeRecorder extends Recorder {
  override onUpdate(
    resources: readonly KnownResource[],
    version: string,
    removed?: readonly string[],
  ): string | undefined {
    const wrong = super.onUpdate(resources, version, removed);
    if (!removed) this.heard.push(`all: ${this.heard.pop() ?? ''}`);
    return wrong;
  }
}

test('who joins an incremental stream late for all has all at once, and then what changes', async () => {
  const state = new DeltaState(SRDS);
  const ask = (): unknown => next(state, 'DeltaDiscoveryRequest');
  const first = new WholeRecorder();
  state.add(first);
  assert.deepEqual(ask(), {});
  const early = new WholeRecorder();
  state.add(early);
  assert.deepEqual(early.heard, []);
  await state.take(response(SRDS, 'v1', 'n1'), [resource('a'), resource('b')]);
  await state.take(response(SRDS, 'v2', 'n2', ['a']), [resource('c')]);
  // One takes the place of another.
  state.remove(first);
  const late = new WholeRecorder();
  state.add(late);
  assert.deepEqual(late.heard, ['all: v2: b c']);
  assert.deepEqual(
    [ask(), ask(), ask()],
    [{ response_nonce: 'n1' }, { response_nonce: 'n2' }, undefined],
  );
  await state.take(response(SRDS, 'v3', 'n3', ['b', 'c']), []);
  assert.deepEqual(early.heard, ['v1: a b', 'v2: c -a', 'v3: -b -c']);
  assert.deepEqual(late.heard.slice(1), ['v3: -b -c']);
  const last = new WholeRecorder();
  state.add(last);
  assert.deepEqual(last.heard, ['all: v3: ']);
});

test('who joins an incremental stream late for a collection has all of it, once it was answered', async () => {
  const state = new DeltaState(LEDS);
  const at = (path: string): string => `xdstp://a/T/${path}`;
  const join = (path: string): WholeRecorder => {
    const watcher = Object.assign(new WholeRecorder(at(path)), { isCollection: true });
    state.add(watcher);
    return watcher;
  };
  const first = join('web/*');
  join('api/*');
  next(state, 'DeltaDiscoveryRequest');
  await state.take(response(LEDS, 'v1', 'n1'), [resource(at('web/1')), resource(at('web/2'))]);
  const late = join('web/*');
  assert.deepEqual(late.heard, [`all: v1: ${at('web/1')} ${at('web/2')}`]);
  assert.deepEqual(join('api/*').heard, []);
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), { response_nonce: 'n1' });
  state.opened();
  next(state, 'DeltaDiscoveryRequest');
  await state.take(response(LEDS, 'v2', 'n2'), [resource(at('web/3'))]);
  assert.deepEqual(late.heard.slice(1), [`v2: ${at('web/3')}`]);
  assert.deepEqual(first.heard.at(-1), `v2: ${at('web/3')}`);
  // What nobody asks for any more is asked for anew.
  next(state, 'DeltaDiscoveryRequest');
  state.remove(first);
  state.remove(late);
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), {
    resource_names_unsubscribe: [at('web/*')],
  });
  assert.deepEqual(join('web/*').heard, []);
  assert.deepEqual(next(state, 'DeltaDiscoveryRequest'), {
    resource_names_subscribe: [at('web/*')],
  });
});

test('who joins late for a prefix has what is known of it, but for what was asked for one by one', async () => {
  const state = new DeltaState(VHDS);
  const join = (prefix: string): WholeRecorder => {
    const watcher = Object.assign(new WholeRecorder(), { prefix });
    state.add(watcher);
    return watcher;
  };
  const first = join('r/');
  next(state, 'DeltaDiscoveryRequest');
  await state.take(response(VHDS, 'v1', 'n1'), [resource('r/a'), resource('s/a')]);
  assert.deepEqual(join('r/').heard, ['all: v1: r/a']);
  assert.deepEqual(join('t/').heard, []);
  state.ask('r/b');
  await state.take(response(VHDS, 'v2', 'n2'), [resource('r/b')]);
  state.remove(first);
  // From here on the control plane does not tell what becomes of it.
  state.forgetAsked('r/');
  assert.deepEqual(join('r/').heard, []);
  await state.take(response(VHDS, 'v3', 'n3'), [resource('r/a')]);
  assert.deepEqual(join('r/').heard, ['all: v3: r/a']);
});

test('who asks for all, or a collection, while a response is told to others has all behind it', async () => {
  const at = (path: string): string => `xdstp://a/T/${path}`;
  for (const name of [undefined, at('web/*')]) {
    const state = new DeltaState(LEDS);
    const answered: WholeRecorder[] = [];
    const make = (): WholeRecorder => {
      const made = Object.assign(new WholeRecorder(...(name === undefined ? [] : [name])), {
        isCollection: name !== undefined,
        onAnswered: () => answered.push(made),
      });
      return made;
    };
    const early = make();
    state.add(early);
    next(state, 'DeltaDiscoveryRequest');
    const all = [resource(at('web/1')), resource(at('web/2'))];
    await state.take(response(LEDS, '1', 'n1'), all);
    let goOn = (): void => assert.fail('nobody waits');
    const slow: Watcher = {
      names: [at('web/1')],
      onUpdate: () => new Promise((resolve) => (goOn = () => resolve(undefined))),
      onRefused: () => undefined,
      onAbsent: () => undefined,
      onFailure: () => undefined,
    };
    state.add(slow);
    goOn();
    const change = response(LEDS, '2', 'n2', [at('web/2')]);
    const taken = state.take(change, [resource(at('web/1'))]);
    await new Promise(setImmediate);
    const late = make();
    state.add(late);
    goOn();
    await taken;
    assert.deepEqual(late.heard, [`all: 2: ${at('web/1')}`]);
    assert.equal(answered.includes(late), false);
    assert.equal(early.heard.at(-1), `2: ${at('web/1')} -${at('web/2')}`);
  }
});

test('what a watcher throws while others are yet to be told is thrown to whoever has it taken, once', async () => {
  const state = new DeltaState(EDS);
  const wrong = new Error('a bug');
  let isPaused = false;
  const failing: Watcher = {
    names: ['a'],
    onUpdate: async () => {
      const untilMs = performance.now() + 20;
      // So long that the others have to wait.
      while (performance.now() < untilMs);
      setImmediate(() => (isPaused = true));
      await Promise.resolve();
      throw wrong;
    },
    onRefused: () => undefined,
    onAbsent: () => undefined,
    onFailure: () => undefined,
  };
  const other = Object.assign(new Recorder('a'), {
    onUpdate: () => assert.ok(isPaused),
  });
  state.add(other);
  state.add(failing);
  const taken = state.take(response(EDS, '1', 'n'), [resource('a')]);
  await assert.rejects(taken, wrong);
});

for (const [kind, State] of [
  ['incremental', DeltaState],
  ['plain', SotwState],
] as const) {
  test(`who asks while a response (${kind}) is told to others hears of it, too`, async () => {
    const state = new State(EDS);
    const early = new Recorder('a');
    const late = new Recorder('a');
    let goOn = (): void => assert.fail('nobody waits');
    const slow: Watcher = {
      names: ['a'],
      onUpdate: () => new Promise((resolve) => (goOn = () => resolve(undefined))),
      onRefused: () => undefined,
      onAbsent: () => undefined,
      onFailure: () => undefined,
    };
    state.add(slow);
    state.add(early);
    const taken = state.take(response(EDS, '1', 'n'), [resource('a')]);
    await new Promise(setImmediate);
    state.add(late);
    assert.deepEqual(late.heard, []);
    goOn();
    await taken;
    assert.deepEqual([early.heard, late.heard], [['1: a'], ['1: a']]);
  });
}

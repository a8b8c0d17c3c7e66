import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControlStats } from '../../../src/stats/control-stats.js';

/** Counters of scopes that come and go, as the data plane has them. */
class FakeNative {
  readonly written: string[] = [];
  readonly #names: string[] = [];
  readonly #ended = new Set<number>();

  end(name: string): void {
    this.#names.forEach((other, handle) => {
      if (other === name) this.#ended.add(handle);
    });
  }

  stat(name: string): number | undefined {
    if (name.endsWith('nonsense')) throw new Error(`there is no statistic '${name}'`);
    return name.startsWith('gone.') ? undefined : this.#names.push(name) - 1;
  }

  isStat(handle: number): boolean {
    return !this.#ended.has(handle);
  }

  counterAdd(handle: number, amount: number): boolean {
    if (this.isStat(handle)) this.written.push(`${this.#names[handle]} ${amount} #${handle}`);
    return this.isStat(handle);
  }

  readonly gaugeSet = this.counterAdd;
  readonly histogramRecord = this.counterAdd;
  readonly textSet = this.#writeText;

  addTo(name: string, amount: number): boolean {
    this.written.push(`${name} ${amount}`);
    return true;
  }

  tellUpdate(prefix: string, version: string): void {
    this.written.push(`${prefix} is at ${version}`);
  }

  #writeText(handle: number, text: string): boolean {
    return this.counterAdd(handle, text.length);
  }
}

test('a name is looked up once, and again when its scope has ended and is back', () => {
  const native = new FakeNative();
  const stats = new ControlStats(native);
  stats.count('cluster.a.x');
  stats.setGauge('cluster.a.x', 3);
  native.end('cluster.a.x');
  stats.record('cluster.a.x', 5);
  assert.deepEqual(native.written, ['cluster.a.x 1 #0', 'cluster.a.x 3 #0', 'cluster.a.x 5 #1']);
  assert.equal(stats.lookups.total, 2);
});

test('what thousands of scopes are told of seldom has no handles', () => {
  const native = new FakeNative();
  const stats = new ControlStats(native);
  stats.countSeldom('cluster.a.update_attempt');
  stats.tellUpdate('cluster.a.', '1', performance.now());
  assert.deepEqual(native.written, ['cluster.a.update_attempt 1', 'cluster.a. is at 1']);
  assert.equal(stats.size, 0);
});

test('what is written to a scope that is no longer is lost; a misspelled name is an error', () => {
  const native = new FakeNative();
  const stats = new ControlStats(native);
  stats.count('gone.a.x');
  assert.deepEqual(native.written, []);
  assert.equal(stats.size, 0);
  assert.throws(() => stats.count('server.nonsense'), /there is no statistic 'server.nonsense'/);
});

test('names of scopes that have ended are forgotten', () => {
  const native = new FakeNative();
  const stats = new ControlStats(native);
  stats.count('server.x');
  for (let i = 0; i < 5000; ++i) {
    stats.count(`cluster.${i}.x`);
    native.end(`cluster.${i}.x`);
  }
  assert.ok(stats.size <= 257, `${stats.size} names`);
  stats.count('server.x');
  assert.equal(native.written.at(-1), 'server.x 1 #0');
});

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { AdminReply } from '../../../../src/admin/http/http.js';
import { LiveFeed } from '../../../../src/admin/live/live-feed.js';
import { pageOf } from '../../support/fake-native.js';

const EVERY_MS = 1;

class Story {
  readonly sent: string[] = [];
  readonly looked: string[] = [];
  pages: Record<string, AdminReply> = { '/a': { body: 'one' } };
  isSlow = false;
  readonly feed: LiveFeed;
  #next = (): void => undefined;

  constructor(t: TestContext) {
    const look = (target: string): AdminReply => {
      this.looked.push(target);
      return this.pages[target] ?? { status: 404, body: 'no such page' };
    };
    const send = (message: Buffer): boolean => {
      this.sent.push(message.toString());
      this.#next();
      return !this.isSlow;
    };
    this.feed = new LiveFeed(look, { send });
    t.after(() => this.feed.close());
  }

  wish(wish: object): string | undefined {
    return this.feed.wish(JSON.stringify(wish));
  }

  async untilSent(count: number): Promise<void> {
    while (this.sent.length < count) await new Promise<void>((resolve) => (this.#next = resolve));
  }
}

test('a page is pushed at once, and again; while it is as it was, only that is said', async (t) => {
  const story = new Story(t);
  assert.equal(story.wish({ id: 1, target: '/a', everyMs: EVERY_MS }), undefined);

  await story.untilSent(2);
  story.pages['/a'] = { body: pageOf('two ', 'three') };
  await story.untilSent(3);

  assert.deepEqual(story.sent, ['1 200\none', '1', '1 200\ntwo three']);
});

test('what is asked for again under a number takes the place of what it stood for', async (t) => {
  const story = new Story(t);
  story.pages['/b'] = { body: 'bee' };
  story.wish({ id: 1, target: '/a', everyMs: EVERY_MS });
  story.wish({ id: 1, target: '/b', everyMs: EVERY_MS });
  await story.untilSent(3);

  assert.deepEqual(story.looked.slice(0, 3), ['/a', '/b', '/b']);
  assert.deepEqual(story.sent, ['1 200\none', '1 200\nbee', '1']);
  story.wish({ id: 1 });
  story.wish({ id: 2, target: '/a', everyMs: EVERY_MS });
  await story.untilSent(5);
  assert.deepEqual(story.sent.slice(3), ['2 200\none', '2']);
});

test('what a page says with another status is pushed with it', async (t) => {
  const story = new Story(t);
  story.wish({ id: 7, target: '/nothing' });
  story.pages['/stream'] = { body: { listen: () => () => undefined } };
  story.wish({ id: 8, target: '/stream' });
  await story.untilSent(2);

  assert.deepEqual(story.sent, ['7 404\nno such page', '8 400\nthis answer has no end\n']);
});

test('nothing is made for a reader that has not caught up', async (t) => {
  const story = new Story(t);
  story.isSlow = true;
  story.wish({ id: 1, target: '/a', everyMs: EVERY_MS });
  // It would be due twice.
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.deepEqual([story.looked.length, story.sent.length], [1, 1]);

  story.isSlow = false;
  story.feed.caughtUp();
  await story.untilSent(2);
  assert.equal(story.looked.length, 2);
});

test('what is no wish is named, and so is one too many', (t) => {
  const story = new Story(t);
  const odd = ['', 'x', '[]', 'null', '1', '{}', '{"id":"1"}', '{"id":1,"target":2}'];
  for (const text of [...odd, '{"id":1,"target":"/a","everyMs":"1"}']) {
    assert.match(story.feed.wish(text) ?? '', /^expected \{"id": 1/, text);
  }
  for (let id = 0; id < 16; id += 1) assert.equal(story.wish({ id, target: '/a' }), undefined);
  assert.equal(story.wish({ id: 16, target: '/a' }), 'more than 16 pages');
  assert.equal(story.wish({ id: 15, target: '/b' }), undefined);
});

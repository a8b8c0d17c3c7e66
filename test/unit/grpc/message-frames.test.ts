import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameMessage, MessageReader } from '../../../src/grpc/message-frames.js';

const texts = (messages: readonly Buffer[] | string): unknown =>
  typeof messages === 'string' ? messages : messages.map((message) => message.toString());

test('a message is not compressed, and its length comes before it', () => {
  assert.equal(frameMessage(Buffer.from('abc')).toString('hex'), '0000000003616263');
  assert.equal(frameMessage(Buffer.alloc(0)).toString('hex'), '0000000000');
});

test('messages are read whatever the pieces that they come in', () => {
  const all = Buffer.concat(['one', '', 'three'].map((text) => frameMessage(Buffer.from(text))));
  assert.deepEqual(texts(new MessageReader(0).take(all)), ['one', '', 'three']);
  for (let size = 1; size < all.length; size++) {
    const reader = new MessageReader(0);
    const found: unknown[] = [];
    for (let at = 0; at < all.length; at += size) {
      found.push(...(texts(reader.take(all.subarray(at, at + size))) as unknown[]));
    }
    assert.deepEqual(found, ['one', '', 'three'], `in pieces of ${size}`);
  }
});

test('a message that is too long, or compressed, ends the stream before its bytes are kept', () => {
  const head = frameMessage(Buffer.alloc(9)).subarray(0, 5);
  assert.equal(new MessageReader(8).take(head), 'a message of 9 bytes, where at most 8 may come');
  assert.deepEqual(new MessageReader(9).take(head), []);
  assert.match(String(new MessageReader(0).take(Buffer.from([1, 0, 0, 0, 1]))), /compressed/);
});

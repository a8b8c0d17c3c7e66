import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Assembly, fragment } from '../../../src/hot-restart/fragments.js';

const MAX = 64;

function assembly() {
  const closed: number[] = [];
  return { closed, parts: new Assembly((descriptors) => closed.push(...descriptors)) };
}

test('a message of any length comes out as it went in, with its descriptors', () => {
  for (const length of [0, 1, 47, 48, 49, 96, 1000]) {
    const { parts } = assembly();
    const message = Buffer.alloc(length, 'm');
    const datagrams = fragment(message, 7, 1, MAX);
    assert.ok(datagrams.every((datagram) => datagram.length <= MAX));
    const wholes = datagrams.flatMap((datagram, index) => {
      return parts.add(datagram, index === 0 ? [5] : []) ?? [];
    });

    assert.deepEqual(
      wholes.map(({ message: got, descriptors }) => [got.equals(message), descriptors]),
      [[true, [5]]],
    );
  }
});

test('parts of two senders may come in turns', () => {
  const { parts } = assembly();
  const [one, other] = [1, 2].map((sender) => fragment(Buffer.alloc(90, sender), sender, 9, MAX));
  const texts = [0, 1].flatMap((index) =>
    [one, other].flatMap((datagrams) => {
      const whole = parts.add(datagrams?.[index] ?? Buffer.alloc(0), []);
      return whole ? [whole.message[0]] : [];
    }),
  );

  assert.deepEqual(texts, [1, 2]);
});

test('a message that its sender began and left is dropped with its descriptors', () => {
  const { parts, closed } = assembly();
  const [first = Buffer.alloc(0)] = fragment(Buffer.alloc(90, 1), 3, 1, MAX);
  assert.equal(parts.add(first, [11, 12]), undefined);
  const [next = Buffer.alloc(0)] = fragment(Buffer.from('next'), 3, 2, MAX);

  assert.equal(parts.add(next, [])?.message.toString(), 'next');
  assert.deepEqual(closed, [11, 12]);
});

test('what is no part of anything changes nothing', () => {
  const { parts, closed } = assembly();
  const [, second = Buffer.alloc(0)] = fragment(Buffer.alloc(90, 1), 3, 1, MAX);
  const tooLong = Buffer.from(second);
  tooLong.writeUInt32LE(10, 8);
  for (const datagram of [Buffer.alloc(0), Buffer.from('short'), second, tooLong]) {
    assert.equal(parts.add(datagram, [21]), undefined);
  }

  assert.deepEqual(closed, [21, 21, 21, 21]);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import {
  decodeReply,
  decodeRequest,
  encodeReply,
  encodeRequest,
  type Reply,
  type Request,
} from '../../../src/hot-restart/messages.gen.js';
import { packageRoot } from '../../../src/base/package-root.js';

const PROTO = join(packageRoot(), 'proto/fairlead/hot_restart.proto');
const { root } = protobuf.parse(readFileSync(PROTO, 'utf8'));
const AS_OURS = { longs: Number, defaults: false };

const REQUESTS: readonly Request[] = [
  {},
  { conversation: 2 ** 48 - 1, number: 1, attach: { version: '1.1', epoch: 7, replyTo: '@ä' } },
  { conversation: 1, number: 2 ** 32 - 1, shutDownAdmin: {} },
  { takeSockets: { first: 253 } },
  { drainListeners: { takenAddresses: ['127.0.0.1:80', '/run/pipe'] } },
  { drainListeners: {} },
  { getStats: {} },
  { getStats: { connectionsOnly: true } },
  { terminate: {} },
  { farewell: {} },
];
const REPLIES: readonly Reply[] = [
  { conversation: 2 ** 33 + 5, number: 3, refusal: '' },
  { refusal: 'the parent process is ending' },
  { attached: { generation: 12 } },
  { adminShutDown: { originalStartMs: 1_763_719_351_000 } },
  {
    sockets: {
      sockets: [
        { listener: 'web', address: '127.0.0.1:80' },
        { address: '[::]:1', anyPort: true },
      ],
      hasMore: true,
    },
  },
  { stats: { batch: Buffer.from([0, 255, 128]), hasMore: true, connections: 2 ** 53 - 1 } },
  { done: {} },
  { leaving: {} },
];

/** What protobufjs makes of the same bytes. */
function throughTheReference(name: string, bytes: Uint8Array): object {
  const type = root.lookupType(`fairlead.hot_restart.${name}`);
  return type.toObject(type.decode(Buffer.from(bytes)), AS_OURS);
}

function fromTheReference(name: string, message: object): Buffer {
  const type = root.lookupType(`fairlead.hot_restart.${name}`);
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}

test('what is written is what any reader of proto3 reads, and the other way about', () => {
  for (const message of REQUESTS) {
    assert.deepEqual(throughTheReference('Request', encodeRequest(message)), message);
    assert.deepEqual(decodeRequest(fromTheReference('Request', message)), message);
  }
  for (const message of REPLIES) {
    assert.deepEqual(throughTheReference('Reply', encodeReply(message)), message);
    assert.deepEqual(decodeReply(fromTheReference('Reply', message)), message);
  }
});

test('a message that is cut short anywhere inside of a field is none', () => {
  for (const message of [...REQUESTS, ...REPLIES]) {
    const [encode, decode] = REQUESTS.includes(message)
      ? [encodeRequest, decodeRequest]
      : [encodeReply, decodeReply];
    const whole = Buffer.from(encode(message as never));
    for (let length = 0; length < whole.length; length += 1) {
      const read = decode(whole.subarray(0, length));
      if (read === undefined) continue;
      // It ends between two fields: what it says is a part of what was said.
      for (const [key, value] of Object.entries(read)) {
        assert.deepEqual(value, message[key as keyof typeof message]);
      }
    }
  }
});

test('fields that are not known are passed over, of whatever type', () => {
  const unknown = [
    [15 * 8, 0x96, 0x01],
    [15 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8],
    [15 * 8 + 2, 2, 9, 9],
    [15 * 8 + 5, 1, 2, 3, 4],
  ].flat();
  const known = encodeRequest({ number: 4, terminate: {} });
  const bytes = Buffer.from([...unknown, ...known, ...unknown]);
  assert.deepEqual(decodeRequest(bytes), { number: 4, terminate: {} });
});

test('groups, endless numbers and lengths beyond the end are no message', () => {
  for (const bytes of [
    [15 * 8 + 3],
    [16, ...Array<number>(11).fill(0x80)],
    [26, 0xff, 0xff, 0xff, 0xff, 0x0f],
    [9, 1, 2, 3],
  ]) {
    assert.equal(decodeRequest(Buffer.from(bytes)), undefined);
  }
});

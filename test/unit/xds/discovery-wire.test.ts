// Responses of discovery services, read in their place: what is inside of what, and no further.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WireWriter } from '../../../src/base/wire.js';
import { CDS, urlOf } from '../../../src/xds/api.js';
import { decodeDelta, decodeSotw, type RawResource } from '../../../src/xds/discovery-wire.js';

const WRAPPER = 'type.googleapis.com/envoy.service.discovery.v3.Resource';
const tag = (field: number): number => (field << 3) | 2;
const long = Buffer.alloc(20_000, 'x');

function written(write: (out: WireWriter) => void): Buffer {
  const out = new WireWriter();
  write(out);
  return Buffer.from(out.finish());
}

/** A Resource. */
function resource(out: WireWriter, name: string, value?: Uint8Array): void {
  out.text(tag(1), `version of ${name}`);
  if (value) {
    out.message(tag(2), value, (any, bytes) => {
      any.text(tag(1), urlOf(CDS));
      any.bytes(tag(2), bytes);
    });
  }
  out.text(tag(3), name);
  out.text(tag(4), `${name} alias`);
  out.message(tag(6), 2, (ttl, seconds) => ttl.number(1 << 3, seconds));
  // What nobody knows.
  out.number(100 << 3, 7);
}

const expected = (name: string, bytes: Buffer | undefined): RawResource => ({
  ...{ name, version: `version of ${name}`, url: bytes ? urlOf(CDS) : '' },
  ...{ bytes: bytes ?? Buffer.alloc(0), isHeartbeat: !bytes, ttlMs: 2000 },
  aliases: [`${name} alias`],
});

test('resources of an incremental response have all that is said of them', async () => {
  const bytes = written((out) => {
    out.text(tag(1), 'v');
    out.message(tag(2), long, (one, value) => resource(one, 'long', value));
    out.message(tag(2), 'there', (one, name) => resource(one, name));
    out.text(tag(4), urlOf(CDS));
    out.text(tag(5), 'n');
    out.text(tag(6), 'gone');
    out.message(tag(7), 'plane', (identifier, text) => {
      identifier.number(2 << 3, 1);
      identifier.text(tag(1), text);
    });
  });
  const { resources, ...rest } = await decodeDelta(bytes);
  assert.deepEqual(rest, {
    ...{ version: 'v', url: urlOf(CDS), nonce: 'n', removed: ['gone'], identifier: 'plane' },
  });
  assert.deepEqual(resources, [expected('long', long), expected('there', undefined)]);
  const [first] = resources;
  assert.notEqual(first?.bytes.buffer, bytes.buffer, 'a resource keeps the whole response');
});

test('of a response of all there is, a resource may be in a wrapper', async () => {
  const bytes = written((out) => {
    out.message(tag(2), long, (any, value) => {
      any.text(tag(1), WRAPPER);
      any.bytes(
        tag(2),
        written((one) => resource(one, 'wrapped', value)),
      );
    });
    out.message(tag(2), long, (any, value) => {
      any.text(tag(1), urlOf(CDS));
      any.bytes(tag(2), value);
    });
  });
  const { resources } = await decodeSotw(bytes);
  const bare = { name: '', version: '', url: urlOf(CDS), bytes: long, isHeartbeat: false };
  // As in the real server its own version is nobody's.
  assert.deepEqual(resources, [{ ...expected('wrapped', long), version: '' }, bare]);
});

test('what reaches beyond the message that it is in is refused', async () => {
  // A Resource of six bytes, whose Any says that it has eight: the response would have them.
  const beyond = [0x12, 0x06, 0x12, 0x08, 0x0a, 0x02, 0x61, 0x62];
  const after = [0x22, 0x06, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66];
  await assert.rejects(decodeDelta(Buffer.from([...beyond, ...after])), RangeError);
  // The same of a value within the Any.
  const value = [0x12, 0x04, 0x12, 0x02, 0x12, 0x04];
  await assert.rejects(decodeDelta(Buffer.from([...value, ...after])), RangeError);
  // A length of more than 32 bits is none of fewer.
  const long = [0x12, 0x82, 0x80, 0x80, 0x80, 0x10, 0x0a, 0x00];
  await assert.rejects(decodeDelta(Buffer.from(long)), /length/);
  // And of the response itself.
  await assert.rejects(decodeDelta(Buffer.from([0x12, 0x40, 0x0a])), RangeError);
});

// The messages of discovery services on the wire: requests are written, responses read up to the
// resources, whose bytes are left for later. Layouts: envoy/service/discovery/v3/discovery.proto.
import type * as Protobuf from 'protobufjs/light.js';
import { protobufjs } from '../base/late-modules.js';
import { WireWriter } from '../base/wire.js';
import { Slices } from './slices.js';

const BYTES = 2;
const tag = (field: number): number => (field << 3) | BYTES;
const WRAPPER = 'envoy.service.discovery.v3.Resource';

/** A resource that has not been decoded. */
export interface RawResource {
  /** Of incremental streams; '' otherwise. */
  readonly name: string;
  readonly version: string;
  readonly url: string;
  readonly bytes: Buffer;
  /** Only its time to live is renewed: it says nothing. */
  readonly isHeartbeat: boolean;
  /** Milliseconds; undefined: for ever. */
  readonly ttlMs?: number;
  /** Other names that it was asked for under. */
  readonly aliases?: readonly string[];
}

export interface DiscoveryResponse {
  readonly version: string;
  readonly url: string;
  readonly nonce: string;
  readonly resources: readonly RawResource[];
  /** Of incremental streams. */
  readonly removed: readonly string[];
  /** Of the control plane; '' where it does not say. */
  readonly identifier: string;
}

/** google.rpc.Code.INTERNAL, as the real server tells of what it refuses. */
const INTERNAL = 13;

export interface SotwRequest {
  readonly node: Uint8Array | undefined;
  readonly url: string;
  readonly version: string;
  readonly nonce: string;
  readonly names: readonly string[];
  /** Why the response of that nonce is refused. */
  readonly error: string | undefined;
}

export function encodeSotw(request: SotwRequest): Buffer {
  const out = new WireWriter();
  if (request.version !== '') out.text(tag(1), request.version);
  if (request.node) out.bytes(tag(2), request.node);
  for (const name of request.names) out.text(tag(3), name);
  out.text(tag(4), request.url);
  if (request.nonce !== '') out.text(tag(5), request.nonce);
  if (request.error !== undefined) out.message(tag(6), request.error, writeStatus);
  return Buffer.from(out.finish());
}

export interface DeltaRequest {
  readonly node: Uint8Array | undefined;
  readonly url: string;
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** What is there already, by name: in the first request of a stream. */
  readonly versions: Iterable<readonly [name: string, version: string]>;
  readonly nonce: string;
  readonly error: string | undefined;
}

export function encodeDelta(request: DeltaRequest): Buffer {
  const out = new WireWriter();
  if (request.node) out.bytes(tag(1), request.node);
  out.text(tag(2), request.url);
  for (const name of request.subscribe) out.text(tag(3), name);
  for (const name of request.unsubscribe) out.text(tag(4), name);
  for (const entry of request.versions) {
    out.message(tag(5), entry, (inner, [name, version]) => {
      inner.text(tag(1), name);
      inner.text(tag(2), version);
    });
  }
  if (request.nonce !== '') out.text(tag(6), request.nonce);
  if (request.error !== undefined) out.message(tag(7), request.error, writeStatus);
  return Buffer.from(out.finish());
}

function writeStatus(out: WireWriter, message: string): void {
  out.number(1 << 3, INTERNAL);
  out.text(tag(2), message);
}

/** In slices. Rejects with a RangeError or Error where the bytes are no such message. */
export async function decodeSotw(bytes: Buffer): Promise<DiscoveryResponse> {
  const fields = { version: '', url: '', nonce: '', identifier: '' };
  const resources: RawResource[] = [];
  await walkSliced(bytes, (field, reader) => {
    if (field === 1) fields.version = reader.string();
    else if (field === 2) resources.push(decodeWrapped(reader));
    else if (field === 4) fields.url = reader.string();
    else if (field === 5) fields.nonce = reader.string();
    else if (field === 6) fields.identifier = decodeIdentifier(reader);
    else return false;
    return true;
  });
  return { ...fields, resources, removed: [] };
}

/** As decodeSotw. */
export async function decodeDelta(bytes: Buffer): Promise<DiscoveryResponse> {
  const fields = { version: '', url: '', nonce: '', identifier: '' };
  const resources: RawResource[] = [];
  const removed: string[] = [];
  await walkSliced(bytes, (field, reader) => {
    if (field === 1) fields.version = reader.string();
    else if (field === 2) resources.push(walk(reader, new ResourceFields()).done());
    else if (field === 4) fields.url = reader.string();
    else if (field === 5) fields.nonce = reader.string();
    else if (field === 6) removed.push(reader.string());
    else if (field === 7) fields.identifier = decodeIdentifier(reader);
    else return false;
    return true;
  });
  return { ...fields, resources, removed };
}

/** Whether it knows the field; others are passed over. */
type TakeField = (field: number, reader: Protobuf.Reader) => boolean;

/** What fields are gathered in. */
interface Fields {
  take: TakeField;
}

/** A message in what is read, where it stands: of thousands, none is cut out first. Gives back `into`. */
function walk<F extends Fields>(reader: Protobuf.Reader, into: F): F {
  const end = reader.size() + reader.pos;
  const { len } = reader;
  if (end > len) throw new RangeError(`index out of range: ${end} > ${len}`);
  // Nothing in it reaches beyond it.
  reader.len = end;
  walkRest(reader, into);
  reader.len = len;
  return into;
}

function walkRest<F extends Fields>(reader: Protobuf.Reader, into: F): F {
  while (reader.pos < reader.len) step(reader, into);
  return into;
}

/** Of the message around thousands of others. */
async function walkSliced(bytes: Buffer, take: TakeField): Promise<void> {
  const reader = protobufjs().Reader.create(bytes);
  const slices = new Slices();
  const into = { take };
  while (reader.pos < reader.len) {
    step(reader, into);
    const pause = slices.pause();
    if (pause) await pause;
  }
}

function step(reader: Protobuf.Reader, into: Fields): void {
  const key = reader.uint32();
  const isKnown = (key & 7) === BYTES && into.take(key >>> 3, reader);
  if (!isKnown) reader.skipType(key & 7);
}

function decodeIdentifier(reader: Protobuf.Reader): string {
  let identifier = '';
  walk(reader, {
    take(field) {
      if (field !== 1) return false;
      identifier = reader.string();
      return true;
    },
  });
  return identifier;
}

/** An Any, which may hold a resource with a time to live. As in the real server it has the response's version. */
function decodeWrapped(reader: Protobuf.Reader): RawResource {
  const { url, bytes } = walk(reader, new AnyFields());
  if (url.slice(url.lastIndexOf('/') + 1) === WRAPPER) {
    const fields = walkRest(protobufjs().Reader.create(bytes), new ResourceFields());
    return { ...fields.done(), version: '' };
  }
  return { name: '', version: '', isHeartbeat: false, url, bytes };
}

const NO_BYTES = Buffer.alloc(0);

class AnyFields implements Fields {
  url = '';
  bytes = NO_BYTES;

  take(field: number, reader: Protobuf.Reader): boolean {
    if (field === 1) this.url = reader.string();
    // A copy: what is kept of a resource does not keep the whole response.
    else if (field === 2) this.bytes = Buffer.from(reader.bytes());
    else return false;
    return true;
  }
}

class ResourceFields implements Fields {
  #name = '';
  #version = '';
  #any: AnyFields | undefined;
  #ttlMs: number | undefined;
  #aliases: string[] | undefined;

  take(field: number, reader: Protobuf.Reader): boolean {
    if (field === 1) this.#version = reader.string();
    else if (field === 2) this.#any = walk(reader, new AnyFields());
    else if (field === 3) this.#name = reader.string();
    else if (field === 4) (this.#aliases ??= []).push(reader.string());
    else if (field === 6) this.#ttlMs = decodeDuration(reader.bytes());
    else return false;
    return true;
  }

  done(): RawResource {
    return {
      name: this.#name,
      version: this.#version,
      url: this.#any?.url ?? '',
      bytes: this.#any?.bytes ?? NO_BYTES,
      isHeartbeat: this.#any === undefined,
      ...(this.#ttlMs !== undefined && { ttlMs: this.#ttlMs }),
      ...(this.#aliases && { aliases: this.#aliases }),
    };
  }
}

function decodeDuration(bytes: Uint8Array): number {
  let ms = 0;
  const reader = protobufjs().Reader.create(bytes);
  while (reader.pos < reader.len) {
    const key = reader.uint32();
    if (key === 1 << 3) ms += Number(reader.int64()) * 1000;
    else if (key === 2 << 3) ms += reader.int32() / 1e6;
    else reader.skipType(key & 7);
  }
  return ms;
}

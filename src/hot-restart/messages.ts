// The messages of proto/fairlead/hot_restart.proto as bytes. protobufjs is loaded when the first one is
// needed, or when there is time for it.
import { createRequire } from 'node:module';
import type * as protobuf from 'protobufjs/light.js';
import { DESCRIPTOR, type Reply, type Request } from './messages.gen.js';

export type RequestKind = Exclude<keyof Request, 'conversation' | 'number'>;

export interface Codec {
  encodeRequest(request: Request): Uint8Array;
  encodeReply(reply: Reply): Uint8Array;
  /** Undefined: it is none. */
  decodeRequest(bytes: Uint8Array): Request | undefined;
  decodeReply(bytes: Uint8Array): Reply | undefined;
}

let loaded: Codec | undefined;

export function loadCodec(): Codec {
  loaded ??= load();
  return loaded;
}

function load(): Codec {
  const { Root } = createRequire(import.meta.url)('protobufjs/light.js') as typeof protobuf;
  const root = Root.fromJSON(DESCRIPTOR as protobuf.INamespace);
  const request = root.lookupType('fairlead.hot_restart.Request');
  const reply = root.lookupType('fairlead.hot_restart.Reply');
  return {
    encodeRequest: (message) => encode(request, message),
    encodeReply: (message) => encode(reply, message),
    decodeRequest: (bytes) => decode(request, bytes),
    decodeReply: (bytes) => decode(reply, bytes),
  };
}

function encode(type: protobuf.Type, message: object): Uint8Array {
  return type.encode(type.fromObject(message)).finish();
}

function decode(type: protobuf.Type, bytes: Uint8Array): object | undefined {
  try {
    return type.toObject(type.decode(bytes), { longs: Number, arrays: true, defaults: false });
  } catch {
    return undefined;
  }
}

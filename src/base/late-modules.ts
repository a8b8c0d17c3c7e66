// Modules that most bootstraps do without, loaded when somebody first asks for them: what they load
// themselves would slow every start.
import { createRequire } from 'node:module';
import type Crypto from 'node:crypto';
import type Tls from 'node:tls';
import type V8 from 'node:v8';
import type * as Protobuf from 'protobufjs/light.js';
import type * as Re2js from 're2js';
import type * as Undici from 'undici';

let loadedCrypto: typeof Crypto | undefined;
export function crypto(): typeof Crypto {
  return (loadedCrypto ??= createRequire(import.meta.url)('node:crypto') as typeof Crypto);
}

let loadedTls: typeof Tls | undefined;
export function tls(): typeof Tls {
  return (loadedTls ??= createRequire(import.meta.url)('node:tls') as typeof Tls);
}

let loadedV8: typeof V8 | undefined;
export function v8(): typeof V8 {
  return (loadedV8 ??= createRequire(import.meta.url)('node:v8') as typeof V8);
}

let loadedUndici: typeof Undici | undefined;
export function undici(): typeof Undici {
  return (loadedUndici ??= createRequire(import.meta.url)('undici') as typeof Undici);
}

let loadedProtobuf: typeof Protobuf | undefined;
export function protobufjs(): typeof Protobuf {
  return (loadedProtobuf ??= createRequire(import.meta.url)(
    'protobufjs/light.js',
  ) as typeof Protobuf);
}

let loadedRe2js: typeof Re2js | undefined;
/** It takes longer to load than all else that a small configuration needs. */
export function re2js(): typeof Re2js {
  return (loadedRe2js ??= createRequire(import.meta.url)('re2js') as typeof Re2js);
}

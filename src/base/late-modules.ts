// Node's own modules that most bootstraps do without, loaded when somebody first asks for them: with all
// that they load themselves they are a tenth of a start.
import { createRequire } from 'node:module';
import type Crypto from 'node:crypto';
import type Tls from 'node:tls';
import type V8 from 'node:v8';

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

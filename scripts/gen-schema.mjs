// Writes what src/config knows of Envoy's configuration: dist/schema.jsonl, the table that decodes
// and prints messages, and build/messages.gen.ts, the TypeScript shapes of what it decodes to. The
// source is the .proto files that @grpc/grpc-js-xds ships, and schema/overlay.proto for what is
// newer than them.
//
//   node scripts/gen-schema.mjs [--force]
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const scripts = dirname(fileURLToPath(import.meta.url));
const schemaFile = join(scripts, '..', 'dist', 'schema.jsonl');
const typesFile = join(scripts, '..', 'build', 'messages.gen.ts');

// Everything the output depends on; its hash opens schema.jsonl.
const SOURCES = ['gen-schema.mjs', 'model', 'rules', 'table', 'typescript', 'overlay.proto'];

function stampOfInputs() {
  const hash = createHash('sha256');
  for (const name of SOURCES) {
    const file = name.includes('.') ? name : `${name}.mjs`;
    const path = name === 'gen-schema.mjs' ? join(scripts, file) : join(scripts, 'schema', file);
    hash.update(readFileSync(path));
  }
  hash.update(readFileSync(join(protoPackage(), 'package.json')));
  return hash.digest('hex').slice(0, 32);
}

function protoPackage() {
  const require = createRequire(import.meta.url);
  return dirname(dirname(dirname(require.resolve('@grpc/grpc-js-xds'))));
}

/** The stamp of the table that is there: `{"stamp":"…"` are its first bytes. */
function stampOfOutput() {
  const head = Buffer.alloc(44);
  try {
    readFileSync(typesFile, { flag: 'r' });
    const file = openSync(schemaFile, 'r');
    readSync(file, head, 0, head.length, 0);
    closeSync(file);
  } catch {
    return undefined;
  }
  return /^\{"stamp":"(\w+)"/.exec(head.toString('latin1'))?.[1];
}

const stamp = stampOfInputs();
if (process.argv.includes('--force') || stampOfOutput() !== stamp) {
  const { readModel } = await import('./schema/model.mjs');
  const { writeTable } = await import('./schema/table.mjs');
  const { writeTypes } = await import('./schema/typescript.mjs');
  const model = readModel(join(protoPackage(), 'deps'), join(scripts, 'schema', 'overlay.proto'));
  for (const file of [typesFile, schemaFile]) mkdirSync(dirname(file), { recursive: true });
  writeFileSync(typesFile, writeTypes(model));
  writeFileSync(schemaFile, writeTable(model, stamp));
}

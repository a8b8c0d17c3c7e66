// Generates both ends of the plan's wire format from proto/fairlead/plan/*.proto, and the table of
// statistics from native/stats/catalogue.txt:
//   native/plan/plan.gen.h, plan.gen.cc   structs and their bounds-checked reader
//   native/stats/catalogue.gen.h          an enumerator for each statistic
//   src/plan/plan.gen.ts                  types and the writer
//   src/hot-restart/messages.gen.ts       what processes say to each other, their writers and readers
// Usage: node proto/generate.mjs [--check]   --check: fails when a file differs, and writes nothing.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emitHeader, emitSource } from './generator/emit-cpp.mjs';
import { emitMessages } from './generator/emit-messages.mjs';
import { emitCatalogue, parseCatalogue } from './generator/emit-stats.mjs';
import { emitTypeScript } from './generator/emit-typescript.mjs';
import { parseProto } from './generator/parse.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..');
const folder = join(here, 'fairlead', 'plan');
// Imported files come before those that import them.
const order = [
  'common',
  'match',
  'tls',
  'filter_config',
  'tracing',
  'cluster',
  'route',
  'http_filter',
  'listener_filter',
  'listener',
  'overload',
  'update',
  'stats',
];
const found = readdirSync(folder).map((name) => name.replace(/\.proto$/, ''));
const files = [
  ...order.filter((name) => found.includes(name)),
  ...found.filter((name) => !order.includes(name)),
];
const messages = files.flatMap((name) =>
  parseProto(readFileSync(join(folder, `${name}.proto`), 'utf8'), `${name}.proto`),
);

const outputs = {
  'native/plan/plan.gen.h': emitHeader(messages),
  'native/plan/plan.gen.cc': emitSource(messages),
  'native/stats/catalogue.gen.h': emitCatalogue(
    parseCatalogue(readFileSync(join(root, 'native/stats/catalogue.txt'), 'utf8')),
  ),
  'src/plan/plan.gen.ts': emitTypeScript(messages),
  'src/hot-restart/messages.gen.ts': emitMessages(
    readFileSync(join(here, 'fairlead', 'hot_restart.proto'), 'utf8'),
    ['Request', 'Reply'],
  ),
};
const check = process.argv.includes('--check');
let stale = 0;
for (const [path, text] of Object.entries(outputs)) {
  const file = join(root, path);
  let current = '';
  try {
    current = readFileSync(file, 'utf8');
  } catch {
    // A missing file differs.
  }
  if (!check) {
    // Nearly all that is compiled depends on them: left as it is where it says the same.
    if (current !== text) writeFileSync(file, text);
    continue;
  }
  if (current !== text) {
    console.error(`${path} does not fit proto/fairlead/plan: run npm run generate`);
    stale += 1;
  }
}
process.exitCode = stale > 0 ? 1 : 0;

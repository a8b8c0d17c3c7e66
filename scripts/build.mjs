// Builds the addon, then everything else: the schema, the type check, the command's bundle, what V8
// compiles of it, and the library. What is up to date is not built again.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { AT_NEED, BUNDLED, importAtNeed, requireAtNeed } from './at-need.mjs';
import { buildUi } from './build-ui.mjs';
import { logPlaces } from './log-places.mjs';
import { mustNode, root, say } from './set-up.mjs';

/** Whether the admin server has pages for people: not after `npm config set admin_html disabled`. */
const adminHtml = process.env.FAIRLEAD_ADMIN_HTML ?? process.env.npm_config_admin_html ?? 'enabled';
const stampFile = join(root, 'dist', 'stamp');
const OUTPUTS = [
  'dist/schema.jsonl',
  'build/messages.gen.ts',
  'dist/cli.js',
  'dist/command.js',
  'dist/command.cache',
  'dist/index.js',
  'dist/hot-restarter.js',
  'dist/index.d.ts',
];
const INPUTS = [
  'src',
  'scripts',
  'examples/demo.yaml',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

function filesBelow(path) {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const inner = join(path, entry.name);
    return entry.isDirectory() ? filesBelow(inner) : [inner];
  });
}

function stampOfInputs() {
  const files = INPUTS.flatMap((name) => {
    const path = join(root, name);
    return name.includes('.') ? [path] : filesBelow(path);
  });
  const digest = createHash('sha256').update(adminHtml);
  for (const file of files.sort()) digest.update(relative(root, file)).update(readFileSync(file));
  return digest.digest('hex');
}

function isUpToDate(stamp) {
  if (!OUTPUTS.every((file) => existsSync(join(root, file)))) return false;
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
}

/** What --version says: the commit, zeros outside a repository, and whether it is what was built. */
function describeBuild() {
  const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  const git = (...args) => execFileSync('git', args, options).trim();
  // The addon and the bundle have no other build.
  const type = 'RELEASE';
  try {
    const revision = git('rev-parse', 'HEAD');
    const changes = git('status', '--porcelain', '--untracked-files=no');
    return { revision, status: changes === '' ? 'Clean' : 'Modified', type };
  } catch {
    return { revision: '0'.repeat(40), status: 'Clean', type };
  }
}

/** All but those whose code is kept compiled with ours. */
function externalPackages() {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !BUNDLED.includes(name),
  );
}

async function bundle() {
  const { build } = await import('esbuild');
  rmSync(join(root, 'dist', 'chunks'), { recursive: true, force: true });
  const options = {
    absWorkingDir: root,
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    // A script that is run from a cache cannot import.
    supported: { 'dynamic-import': false },
    logLevel: 'warning',
  };
  await build({
    ...options,
    entryPoints: {
      command: 'src/main.ts',
      index: 'src/index.ts',
      'hot-restarter': 'src/restarter/main.ts',
    },
    external: ['./packages/*', ...externalPackages()],
    define: {
      'import.meta.dirname': '__dirname',
      // Of yargs: it asks on loading, and Node's streams take long to load.
      'import.meta.url': 'moduleUrl',
      'process.stdout.columns': 'undefined',
      'process.env.FAIRLEAD_ADMIN_HTML': JSON.stringify(adminHtml),
    },
    plugins: [logPlaces(root, requireAtNeed), importAtNeed],
    banner: { js: "const moduleUrl = 'file://' + __filename;" },
    sourcemap: 'linked',
    sourcesContent: false,
  });
  await build({ ...options, entryPoints: { cli: 'src/launch.cts' } });
  await build({ ...options, entryPoints: AT_NEED, outdir: 'dist/packages' });
  // The package is ES modules otherwise.
  writeFileSync(join(root, 'dist', 'package.json'), '{ "type": "commonjs" }\n');
  for (const name of ['cli.js', 'hot-restarter.js']) chmodSync(join(root, 'dist', name), 0o755);
}

/** The library's types: those that its entry names, out of all that the type check has written. */
function publishTypes() {
  const [from, to] = [join(root, 'build', 'types', 'src'), join(root, 'dist', 'types')];
  rmSync(to, { recursive: true, force: true });
  const names = new Set(['index.d.ts']);
  for (const name of names) {
    const text = readFileSync(join(from, name), 'utf8');
    mkdirSync(dirname(join(to, name)), { recursive: true });
    writeFileSync(join(to, name), text);
    for (const [, other] of text.matchAll(/ from '(\.[^']+)\.js';/g)) {
      names.add(join(dirname(name), `${other}.d.ts`));
    }
  }
  writeFileSync(join(root, 'dist', 'index.d.ts'), "export * from './types/index.js';\n");
}

mustNode('the addon', 'scripts/build-native.mjs');
const stamp = stampOfInputs();
if (!isUpToDate(stamp)) {
  say('making the schema');
  mustNode('the schema', 'scripts/gen-schema.mjs');
  say('checking types');
  mustNode('the type check', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json');
  mustNode('the type check', 'node_modules/typescript/bin/tsc', '-p', 'src/ui/tsconfig.json');
  say('bundling');
  await bundle();
  publishTypes();
  mustNode('the code cache', 'scripts/code-cache.mjs');
  rmSync(join(root, 'dist', 'ui.html'), { force: true });
  if (adminHtml !== 'disabled') await buildUi();
  writeFileSync(stampFile, stamp);
}
mkdirSync(join(root, 'dist'), { recursive: true });
writeFileSync(join(root, 'dist', 'build.json'), JSON.stringify(describeBuild()));

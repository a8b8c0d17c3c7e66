// What is loaded at need, so that a start loads less. In sources that is `createRequire(import.meta.url)(…)`,
// which becomes a plain `require(…)` in the bundle: it is CommonJS.
import { createRequire } from 'node:module';

/** Packages that become a file of their own, packages/NAME.js: it is read faster than their many. */
const OWN = ['re2js', 'yaml'];
/** The same of yargs, which needs them to lay out --help: they compile large expressions on loading. */
const OF_YARGS = ['cliui', 'string-width'];

const require = createRequire(import.meta.url);
const requireOfYargs = createRequire(require.resolve('yargs'));

/** Their names and entries. */
export const AT_NEED = Object.fromEntries([
  ...OWN.map((name) => [name, name]),
  ...OF_YARGS.map((name) => [name, requireOfYargs.resolve(name)]),
]);

/** Packages that become part of each bundle. */
export const BUNDLED = ['yargs'];

const REQUIRE = /\bcreateRequire\(import\.meta\.url\)\((?:'([\w-]+)')?/g;

export function requireAtNeed(text) {
  return text.replace(REQUIRE, (_, name) => {
    if (name === undefined) return 'require(';
    return OWN.includes(name) ? `require('./packages/${name}.js'` : `require('${name}'`;
  });
}

/** An esbuild plugin: what yargs imports of such a package is a function that loads it when called. */
export const importAtNeed = {
  name: 'import-at-need',
  setup(build) {
    const filter = new RegExp(`^(${OF_YARGS.join('|')})$`);
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'at-need' }));
    build.onLoad({ filter, namespace: 'at-need' }, ({ path }) => ({
      contents: `export default (...args) => require('./packages/${path}.js').default(...args);`,
    }));
  },
};

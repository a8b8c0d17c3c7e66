// What sources load at need, by `createRequire(import.meta.url)(…)`, is a plain `require(…)` in the
// bundle, which is CommonJS.

/** Packages that become a file of their own, packages/NAME.js: it is read faster than their many. */
export const AT_NEED = ['re2js', 'yaml'];

const REQUIRE = /\bcreateRequire\(import\.meta\.url\)\((?:'([\w-]+)')?/g;

export function requireAtNeed(text) {
  return text.replace(REQUIRE, (_, name) => {
    if (name === undefined) return 'require(';
    return AT_NEED.includes(name) ? `require('./packages/${name}.js'` : `require('${name}'`;
  });
}

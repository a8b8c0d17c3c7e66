// What sources load at need, by `createRequire(import.meta.url)(…)`, is a plain `require(…)` in the
// bundle, which is CommonJS.

/** Packages that become a file of their own, packages/NAME.js: it is read faster than their many. */
export const AT_NEED = { protobufjs: 'protobufjs/light.js', re2js: 're2js', yaml: 'yaml' };

const REQUIRE = /\bcreateRequire\(import\.meta\.url\)\((?:'([^']+)')?/g;

export function requireAtNeed(text) {
  return text.replace(REQUIRE, (_, name) => {
    if (name === undefined) return 'require(';
    const file = Object.keys(AT_NEED).find((key) => AT_NEED[key] === name);
    return file === undefined ? `require('${name}'` : `require('./packages/${file}.js'`;
  });
}

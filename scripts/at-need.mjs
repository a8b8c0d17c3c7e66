// What sources load at need, by `createRequire(import.meta.url)(…)`, is a plain `require(…)` in the
// bundle, which is CommonJS: esbuild puts a package that is named there into the bundle as well, and
// runs it when it is reached.
const AT_NEED = /\bcreateRequire\(import\.meta\.url\)(?=\()/g;

export function requireAtNeed(text) {
  return text.replace(AT_NEED, 'require');
}

// What sources load at need, by `createRequire(import.meta.url)('package')`, is put into the bundle
// as well: esbuild follows a plain `require('package')`, and runs the package when it is reached.
const LOADED_AT_NEED = /\bcreateRequire\(import\.meta\.url\)(?=\('[\w-]+'\))/g;

export function bundleAtNeed(text) {
  return text.replace(LOADED_AT_NEED, 'require');
}

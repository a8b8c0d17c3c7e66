// TypeScript 7 has no API for eslint's parser: .ts files are held to tsc's strictest settings and to
// prettier; this is for scripts.
export default [
  { ignores: ['build/', 'dist/', 'node_modules/', 'bench/results/'] },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: 'module',
      globals: { process: 'readonly', console: 'readonly', Buffer: 'readonly', URL: 'readonly', URLSearchParams: 'readonly', setTimeout: 'readonly', clearTimeout: 'readonly', setInterval: 'readonly', clearInterval: 'readonly', setImmediate: 'readonly', performance: 'readonly', fetch: 'readonly', TextEncoder: 'readonly', TextDecoder: 'readonly', AbortSignal: 'readonly', structuredClone: 'readonly' },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: { 'no-undef': 'error', 'no-unused-vars': ['error', { argsIgnorePattern: '^_' }], 'prefer-const': 'error', eqeqeq: 'error', 'no-var': 'error' },
  },
];

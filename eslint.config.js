// TypeScript 7 has no interface that eslint's TypeScript parser could use: .ts files are held to tsc's
// strictest settings and to prettier. This is for scripts.
const GLOBALS = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'URLSearchParams',
  'clearInterval',
  'clearTimeout',
  'console',
  'fetch',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'structuredClone',
];

export default [
  { ignores: ['build/', 'dist/', 'node_modules/', 'bench/results/'] },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: 'module',
      globals: Object.fromEntries(GLOBALS.map((name) => [name, 'readonly'])),
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-undef': 'error',
      'no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      'no-unreachable': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      eqeqeq: 'error',
    },
  },
];

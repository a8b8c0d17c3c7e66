// eslint for scripts, prettier for everything; TypeScript itself is held to tsc's strictest settings.
import { mustNode } from './set-up.mjs';

mustNode('eslint', 'node_modules/eslint/bin/eslint.js', '.');
mustNode('prettier', 'node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.');
mustNode('clang-format', 'scripts/clang-format.mjs', '--check');

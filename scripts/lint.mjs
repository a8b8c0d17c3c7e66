// oxlint, with types, for TypeScript and scripts; the layers of src/ and native/; prettier for them, YAML and JSON; clang-format for C++.
import { mustNode } from './set-up.mjs';

mustNode('oxlint', 'node_modules/oxlint/bin/oxlint', '--type-aware', '--quiet');
mustNode('layers', 'scripts/layers.mjs');
mustNode('prettier', 'node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.');
mustNode('clang-format', 'scripts/clang-format.mjs', '--check');

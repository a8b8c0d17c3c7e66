// eslint on what it can read, prettier on everything.
import { must } from './set-up.mjs';

must('eslint', process.execPath, ['node_modules/eslint/bin/eslint.js', '.']);
must('prettier', process.execPath, ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.']);

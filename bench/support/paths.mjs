// Where things are in the repository.
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const resultsDirectory = join(root, 'bench/results');
export const toolsDirectory = join(root, 'build/bench');
export const commandPath = join(root, 'dist/cli.js');

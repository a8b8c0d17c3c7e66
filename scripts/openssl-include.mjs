// Prints where the headers of Node's OpenSSL are, for builds without Node.
import { join } from 'node:path';
import { findNodeDir } from './nodedir.mjs';

const directory = findNodeDir();
if (!directory) {
  console.error('the headers of this Node are not beside it: set FAIRLEAD_NODEDIR to their prefix');
  process.exit(1);
}
console.log(join(directory, 'include', 'node'));

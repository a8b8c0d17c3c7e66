// Where the headers of the running Node are: beside it, so that no build downloads anything.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

const NEEDED = ['node_api.h', 'common.gypi', 'node_version.h'];

/** The folder whose include/node holds headers of this Node's major version, or undefined. */
export function findNodeDir() {
  const candidates = [
    process.env.FAIRLEAD_NODEDIR,
    join(dirname(realpathSync(process.execPath)), '..'),
    process.config.variables.node_prefix,
    '/usr/local',
    '/usr',
  ];
  return candidates.find((dir) => dir && hasHeaders(dir));
}

function hasHeaders(dir) {
  const include = join(dir, 'include', 'node');
  if (!NEEDED.every((file) => existsSync(join(include, file)))) return false;
  const version = readFileSync(join(include, 'node_version.h'), 'utf8');
  const major = /#define NODE_MAJOR_VERSION (\d+)/.exec(version)?.[1];
  return major === process.versions.node.split('.')[0];
}

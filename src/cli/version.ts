// What this build is called.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';

/** No version can take over from another yet. */
export const HOT_RESTART_VERSION = 'disabled';

/** revision/version/state of the sources/build type/TLS library, as the real server writes it. */
export function versionText(): string {
  return `${revision()}/${packageVersion()}/Clean/RELEASE/OpenSSL-${process.versions.openssl ?? 'none'}`;
}

/** The package's: "0.1.0". */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The commit that was built; zeros outside a repository. */
export function revision(): string {
  try {
    return readFileSync(join(packageRoot(), 'dist', 'revision'), 'utf8').trim();
  } catch {
    return '0'.repeat(40);
  }
}

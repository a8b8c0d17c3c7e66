// What this build is called.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';

/** revision/version/status/build type/TLS library, as the real server writes it. */
export function versionText(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return `${revision()}/${version}/Clean/RELEASE/OpenSSL-${process.versions.openssl ?? 'none'}`;
}

/** The commit that was built, or zeros outside a repository. */
export function revision(): string {
  try {
    return readFileSync(join(packageRoot(), 'dist', 'revision'), 'utf8').trim();
  } catch {
    return '0'.repeat(40);
  }
}

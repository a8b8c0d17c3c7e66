// What this build is called.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';

/** What scripts/build.mjs writes down. */
interface Build {
  /** The commit that was built; zeros outside a repository. */
  readonly revision: string;
  /** Whether the sources were those of the commit. */
  readonly status: 'Clean' | 'Modified';
  readonly type: 'RELEASE' | 'DEBUG';
}

const UNKNOWN: Build = { revision: '0'.repeat(40), status: 'Modified', type: 'RELEASE' };
let known: Build | undefined;

export function build(): Build {
  known ??= readBuild();
  return known;
}

function readBuild(): Build {
  try {
    return JSON.parse(readFileSync(join(packageRoot(), 'dist', 'build.json'), 'utf8')) as Build;
  } catch {
    return UNKNOWN;
  }
}

/** revision/version/state of the sources/build type/TLS library, as the real server writes it. */
export function versionText(): string {
  const { revision, status, type } = build();
  return [revision, packageVersion(), status, type, tlsLibrary()].join('/');
}

/** The library that Node brings: "OpenSSL-3.0.19", with "-FIPS" where it is that variant. */
export function tlsLibrary(): string {
  const isFips =
    (process.config.variables as { openssl_is_fips?: unknown }).openssl_is_fips === true;
  return `OpenSSL-${process.versions.openssl ?? 'none'}${isFips ? '-FIPS' : ''}`;
}

/** The package's: "0.1.0". */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** As nodes tell it (envoy.config.core.v3.BuildVersion). */
export interface BuildVersion {
  readonly version: {
    readonly major_number: number;
    readonly minor_number: number;
    readonly patch: number;
  };
  readonly metadata: Readonly<Record<string, string>>;
}

export function buildVersion(): BuildVersion {
  const [major = 0, minor = 0, patch = 0] = packageVersion().split('.').map(Number);
  return {
    version: { major_number: major, minor_number: minor, patch },
    metadata: {
      'revision.sha': build().revision,
      'revision.status': build().status,
      'build.type': build().type,
      'ssl.version': tlsLibrary(),
    },
  };
}

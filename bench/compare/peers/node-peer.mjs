// What peers that are a package of Node have in common: a small server script of ours runs them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../support/paths.mjs';
import { startProcess, waitForPort } from '../../support/processes.mjs';

/**
 * @param {string} packageName
 * @param {string} script its server, beside this file: argv is LISTEN_PORT ORIGIN_PORT
 */
export function nodePeer(packageName, script) {
  const manifest = join(root, 'node_modules', packageName, 'package.json');
  return {
    name: packageName,
    missing(mode) {
      if (mode !== 'http') return 'proxies plain HTTP only';
      return existsSync(manifest) ? undefined : 'not installed: npm install';
    },
    version: () => JSON.parse(readFileSync(manifest, 'utf8')).version,
    async start({ origin, listenPort, cpus }) {
      const path = fileURLToPath(new URL(script, import.meta.url));
      const args = [path, String(listenPort), String(origin.port)];
      const env = { ...process.env, NODE_ENV: 'production' };
      const proxy = startProcess(process.execPath, args, { cpus, env });
      await waitForPort(listenPort, proxy);
      return { pids: [proxy.pid], stop: () => proxy.stop() };
    },
  };
}

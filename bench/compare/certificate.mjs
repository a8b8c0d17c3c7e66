// A certificate for comparisons over TLS, with its key: ECDSA, as most sites have.
import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configOf } from './workloads.mjs';

/**
 * @param {string} directory where they are written
 * @returns {{certificate: string, key: string, both: string}} paths; `both`: one after the other
 */
export function makeCertificate(directory) {
  const [certificate, key, both] = ['bench.crt', 'bench.key', 'bench.pem'].map((name) =>
    join(directory, name),
  );
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const paths = ['-out', certificate, '-keyout', key];
  const args = ['req', '-x509', ...kind, '-nodes', '-subj', '/CN=bench', '-days', '30', ...paths];
  execFileSync('openssl', args, { stdio: 'pipe' });
  copyFileSync(certificate, both);
  appendFileSync(both, readFileSync(key));
  return { certificate, key, both };
}

/** What a configuration of the mode is filled in with. */
export function certificateFor(mode, directory) {
  return ['https', 'h2'].includes(configOf(mode)) ? makeCertificate(directory) : {};
}

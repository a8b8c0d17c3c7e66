// Clients and servers of several kinds, versions, ciphers, with and without certificates and sessions, and
// what becomes of each with a proxy.
//   node test/parity/tls-matrix/main.mjs --proxy CMD --write FILE   what the real server does
//   node test/parity/tls-matrix/main.mjs --proxy CMD --expect FILE  whether another one does the same
//   … --share N                                                     one of N combinations, always the same
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer, connect as connectRaw } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify, parseArgs } from 'node:util';
import { bootstrapOf, CLUSTERS, HOSTS, LISTENERS, makeCertificates } from './servers.mjs';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('.', import.meta.url));
const VERSIONS = ['1.2', '1.3'];
const IDENTITIES = ['nobody', 'client', 'stranger'];
const CIPHERS_12 = {
  'ECDHE-ECDSA-AES128-GCM-SHA256': 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384': 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305': 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256': 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384': 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'ECDHE-RSA-AES128-SHA': 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
  'AES128-GCM-SHA256': 'TLS_RSA_WITH_AES_128_GCM_SHA256',
};
const CIPHERS_13 = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
];
const CURVES = ['X25519', 'P-256', 'P-384', 'P-521'];
const REQUEST = 'GET / HTTP/1.1\r\nhost: kit.test\r\nconnection: close\r\n\r\n';

/** All that is tried with clients: a name, a listener, and what the client does. */
function combinations() {
  const all = [];
  const add = (listener, version, more) => all.push({ listener, version, ...more });
  for (const version of VERSIONS) {
    for (const listener of Object.keys(LISTENERS)) {
      const asks = LISTENERS[listener].trusts || listener === 'unchecked';
      for (const identity of asks ? IDENTITIES : ['nobody']) {
        add(listener, version, { identity, sessions: false });
        add(listener, version, { identity, sessions: true });
      }
    }
    const ciphers = version === '1.2' ? Object.keys(CIPHERS_12) : CIPHERS_13;
    for (const listener of ['any', 'ec', 'rsa', 'one-cipher', 'clients-cipher']) {
      for (const cipher of ciphers) add(listener, version, { identity: 'nobody', cipher });
    }
    for (const listener of ['ec', 'P-384']) {
      for (const curve of CURVES) add(listener, version, { identity: 'nobody', curve });
    }
  }
  return all;
}

const nameOf = (client, { listener, version, identity, sessions, cipher, curve }) =>
  [client, listener, version, identity, sessions && 'again', cipher, curve]
    .filter(Boolean)
    .join(' ');

// ---- clients ----

async function bySClient({ port, version, identity, sessions, cipher, curve, directory }) {
  const args = ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', 'server.test'];
  args.push('-CAfile', 'ca.crt', '-verify_return_error', '-ign_eof');
  args.push(version === '1.2' ? '-tls1_2' : '-tls1_3');
  if (identity !== 'nobody') args.push('-cert', `${identity}.crt`, '-key', `${identity}.key`);
  if (cipher) args.push(version === '1.2' ? '-cipher' : '-ciphersuites', cipher);
  if (curve) args.push('-groups', curve);
  const file = join(directory, `session-${Math.random()}`);
  if (sessions) await sClient([...args, '-sess_out', file], directory);
  return sClient(sessions ? [...args, '-sess_in', file] : args, directory);
}

async function sClient(args, directory) {
  const child = run('openssl', args, { cwd: directory, timeout: 8000 });
  child.child.stdin.on('error', () => undefined).end(REQUEST);
  const text = await child.then(
    ({ stdout, stderr }) => stdout + stderr,
    (error) => `${error.stdout}${error.stderr}`,
  );
  const alert = /SSL alert number (\d+)/.exec(text);
  if (alert) return `alert ${alert[1]}`;
  const made = /(New|Reused), (\S+), Cipher is (\S+)/.exec(text);
  const status = /(HTTP\/1\.1 \d+ \w+)/.exec(text);
  if (!made || made[3] === '(NONE)') return 'no handshake';
  // What it says of 1.2 is the oldest version that has the cipher.
  return `${made[3]}${made[1] === 'Reused' ? ' resumed' : ''} ${status?.[1] ?? 'no answer'}`;
}

async function byCurl({ port, version, identity, sessions, cipher, curve, directory }) {
  if (sessions) return undefined;
  const args = ['-sS', '--cacert', 'ca.crt', '--resolve', `server.test:${port}:127.0.0.1`];
  args.push('-o', '/dev/null', '-w', '%{http_code}', '--http1.1', '--max-time', '8');
  args.push(version === '1.2' ? '--tlsv1.2' : '--tlsv1.3', '--tls-max', version);
  if (identity !== 'nobody') args.push('--cert', `${identity}.crt`, '--key', `${identity}.key`);
  if (cipher) args.push(version === '1.2' ? '--ciphers' : '--tls13-ciphers', cipher);
  if (curve) args.push('--curves', curve);
  return run('curl', [...args, `https://server.test:${port}/`], { cwd: directory }).then(
    ({ stdout }) => `status ${stdout}`,
    // It notices the alert while it reads, or while it still writes.
    (error) => `exit ${error.code === 55 ? 56 : error.code}`,
  );
}

async function byNode(asked) {
  const { port, version, identity, sessions, cipher, curve, read } = asked;
  const options = {
    port,
    host: '127.0.0.1',
    servername: 'server.test',
    ca: read('ca.crt'),
    minVersion: `TLSv${version}`,
    maxVersion: `TLSv${version}`,
    ...(identity !== 'nobody' && { cert: read(`${identity}.crt`), key: read(`${identity}.key`) }),
    ...(cipher && { ciphers: cipher }),
    ...(curve && { ecdhCurve: curve }),
  };
  const first = sessions ? await nodeVisit(options) : {};
  return (await nodeVisit({ ...options, ...(first.session && { session: first.session }) }))
    .outcome;
}

function nodeVisit(options) {
  return new Promise((resolve) => {
    const socket = connect(options);
    const result = { outcome: 'no answer' };
    let body = '';
    socket.setTimeout(8000, () => socket.destroy());
    socket.on('session', (session) => (result.session = session));
    socket.on('secureConnect', () => {
      const { standardName } = socket.getCipher();
      const resumed = socket.isSessionReused() ? ' resumed' : '';
      result.outcome = `${socket.getProtocol()} ${standardName}${resumed}`;
      socket.write(REQUEST);
    });
    socket.on('data', (chunk) => (body += chunk));
    socket.on('error', ({ code }) => (result.outcome = String(code)));
    socket.on('close', () => {
      if (body) result.outcome += ` ${body.split('\r\n')[0]}`;
      resolve(result);
    });
  });
}

/** Null: there is no Go here. */
function startGo(directory) {
  const program = join(directory, 'go-client');
  try {
    execFileSync('go', ['build', '-o', program, 'client.go'], { cwd: HERE, stdio: 'pipe' });
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ask = async ({ port, version, identity, sessions, cipher, curve, read }) => {
    // Which curves it offers, and which suites of 1.3, is not for its callers to say.
    if (curve || (cipher && version === '1.3')) return undefined;
    const asked = {
      ...{ Port: port, Version: version, Ca: read('ca.crt'), Sessions: sessions === true },
      ...(cipher && { Suites: [CIPHERS_12[cipher]] }),
      ...(identity !== 'nobody' && { Cert: read(`${identity}.crt`), Key: read(`${identity}.key`) }),
    };
    child.stdin.write(`${JSON.stringify(asked)}\n`);
    return JSON.parse((await lines.next()).value);
  };
  return { ask, stop: () => child.stdin.end() };
}

// ---- hosts ----

function startHosts(directory, ports) {
  return Object.entries(HOSTS).map(([name, options]) => {
    const args = ['s_server', '-accept', `127.0.0.1:${ports[name]}`, '-www', '-quiet', ...options];
    return spawn('openssl', args, { cwd: directory, stdio: 'ignore' });
  });
}

function askHost(port, path) {
  return new Promise((resolve) => {
    const asked = get({ port, host: '127.0.0.1', path, agent: false, timeout: 8000 }, (answer) => {
      answer.resume();
      const said = ['x-version', 'x-cipher', 'x-flags'].map((name) => String(answer.headers[name]));
      answer.on('close', () => resolve([answer.statusCode, ...said].join(' ')));
    });
    asked.on('timeout', () => asked.destroy(new Error('takes too long')));
    asked.on('error', (error) => resolve(String(error.code ?? error.message)));
  });
}

// ---- the run ----

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

const portsFor = async (names) =>
  Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()])));

async function untilOpen(port) {
  for (let i = 0; i < 500; i += 1) {
    const socket = connectRaw(port, '127.0.0.1');
    const opened = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (opened) return;
    await sleep(20);
  }
  throw new Error(`nobody listens on port ${port}`);
}

/**
 * @param {number} share one of so many combinations is tried
 * @returns {Promise<Record<string, string>>} by combination
 */
export async function outcomesOf(command, share = 1) {
  let number = 0;
  const isOurs = () => number++ % share === 0;

  const directory = mkdtempSync(join(tmpdir(), 'fairlead-tls-matrix-'));
  const read = makeCertificates(directory);
  const ports = {
    listeners: await portsFor(Object.keys(LISTENERS)),
    hosts: await portsFor(Object.keys(HOSTS)),
    ...(await portsFor(['plain', 'admin'])),
  };
  const file = join(directory, 'bootstrap.json');
  writeFileSync(file, JSON.stringify(bootstrapOf(directory, ports)));
  const [program, ...args] = command.split(' ');
  const own = ['-c', file, '--concurrency', '1', '--use-dynamic-base-id', '-l', 'error'];
  const proxy = spawn(program, [...args, ...own], { stdio: ['ignore', 'ignore', 'inherit'] });
  const hosts = startHosts(directory, ports.hosts);
  const go = startGo(directory);
  const outcomes = {};
  try {
    for (const port of [...Object.values(ports.listeners), ports.plain]) await untilOpen(port);
    for (const port of Object.values(ports.hosts)) await untilOpen(port);
    const clients = { s_client: bySClient, curl: byCurl, node: byNode, ...(go && { go: go.ask }) };
    for (const asked of combinations()) {
      const more = { port: ports.listeners[asked.listener], directory, read };
      for (const [client, visit] of Object.entries(clients)) {
        const outcome = isOurs() ? await visit({ ...asked, ...more }) : undefined;
        if (outcome !== undefined) outcomes[nameOf(client, asked)] = outcome;
      }
    }
    for (const cluster of Object.keys(CLUSTERS)) {
      for (const host of Object.keys(HOSTS)) {
        if (!isOurs()) continue;
        const path = `/${cluster}-${host}`;
        outcomes[`to s_server ${cluster} ${host}`] = await askHost(ports.plain, path);
        outcomes[`to s_server ${cluster} ${host} again`] = await askHost(ports.plain, path);
      }
    }
  } finally {
    go?.stop();
    for (const child of [...hosts, proxy]) child.kill();
    await once(proxy, 'exit');
    rmSync(directory, { recursive: true, force: true });
  }
  return outcomes;
}

/** What is other than in the real server on purpose. */
const KINDER_OR_STRICTER = [
  // There Go's client is taken for one that takes ECDSA, by what it says of TLS 1.3 alone.
  /^go (any|one-cipher) 1\.2 nobody ECDHE-RSA-\S+$/,
];

/** There ciphers of a group are chosen by the client's order; here where the client's first is of it. */
const withoutOrder = (name, outcome) =>
  name.startsWith('s_client ')
    ? outcome?.replace('CHACHA20-POLY1305', 'AES128-GCM-SHA256')
    : outcome;

/** What differs, a line for each; a client that is not here is not missed. */
export function differences(expected, outcomes) {
  return Object.entries(outcomes)
    .filter(([name, outcome]) => withoutOrder(name, expected[name]) !== withoutOrder(name, outcome))
    .filter(([name]) => !KINDER_OR_STRICTER.some((known) => known.test(name)))
    .map(([name, outcome]) => `${name}: ${outcome}, expected ${expected[name]}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = { type: 'string' };
  const { values } = parseArgs({
    options: { proxy: text, write: text, expect: text, share: { ...text, default: '1' } },
  });
  const outcomes = await outcomesOf(values.proxy, Number(values.share));
  const count = Object.keys(outcomes).length;
  if (values.write) writeFileSync(values.write, `${JSON.stringify(outcomes, null, 1)}\n`);
  if (values.expect) {
    const found = differences(JSON.parse(readFileSync(values.expect, 'utf8')), outcomes);
    console.log([...found, `${count} combinations, ${found.length} differ`].join('\n'));
    process.exitCode = found.length > 0 ? 1 : 0;
  }
}

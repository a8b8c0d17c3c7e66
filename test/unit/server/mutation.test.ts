// Whatever becomes of a good bootstrap, it is taken, or refused with reasons and places, and within a
// second: neither the server nor its data plane crashes over it. FAIRLEAD_MUTATIONS sets how many
// mutations there are of all bootstraps.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { PlainObject } from '../../../src/config/values/objects.js';
import { printMessage } from '../../../src/config/print.js';
import { schema } from '../../../src/config/schema/schema.js';
import { formatIssue } from '../../../src/config/issues/issue.js';
import { loadBootstrap } from '../../../src/config/load.js';
import { loadAddon, type NativeProxy } from '../../../src/native.js';
import { packageRoot } from '../../../src/base/package-root.js';
import { encodeUpdate, type AccessLog, type Update } from '../../../src/plan/plan.gen.js';
import { judge, type Verdict } from '../support/verdict.js';
import { binaryOf } from '../support/binary.js';
import { mutatedBytes, mutatedText, mutatedValue, randomNumbers } from '../support/mutation.js';

const MUTATIONS = Number(process.env['FAIRLEAD_MUTATIONS'] ?? 500);
const SEED = 20_261_121;

const TEXT_PROTOBUF = `node { id: "one" metadata { fields { key: "a" value { number_value: 1 } } } }
admin: < address { socket_address { address: "127.0.0.1" port_value: 0x50 } } >
static_resources {
  clusters: [{ name: "c" connect_timeout { seconds: 1 nanos: 5 } lb_policy: RANDOM }]
  listeners {
    name: 'l' address { pipe { path: "/tmp/l" } } # a pipe
    filter_chains { filters { name: "e" typed_config {
      [type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo] {} } } }
  }
}
`;

/** A line says where, then what; nothing of our own code shows. */
const LINE = /^(?:warning b:)?\d+:\d+: \S/;
const OF_OUR_OWN = /undefined|\[object|NaN|\bat .*\.[cm]?[jt]s:|TypeError|RangeError/;

function check(verdict: Verdict, text: string): void {
  const { accepted, lines } = verdict;
  if (!accepted) assert.notEqual(lines.length, 0, text);
  for (const line of lines) {
    assert.match(line, LINE, text);
    const said = line.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '');
    if (!OF_OUR_OWN.test(text)) assert.doesNotMatch(said, OF_OUR_OWN, text);
  }
}

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';

/** What is taken is taken by the data plane, too, and is taken again as it is printed. */
function checkAccepted(verdict: Verdict, verdictOf: ReturnType<typeof judge>, text: string): void {
  if (!verdict.accepted) return;
  const { bootstrap, firstUpdate } = verdict.accepted;
  for (const { kind, message } of dataPlane().apply(encodeUpdate(harmless(firstUpdate.take()))))
    assert.notEqual(kind, 'plan', `${message}\n${text}`);
  const type = schema().getMessage(BOOTSTRAP);
  const printed = JSON.stringify(printMessage(schema(), type, { ...bootstrap }));
  assert.ok(verdictOf(printed, 'json').accepted, `${text}\n${printed}`);
}

/** Not started: it builds what it is told, and opens sockets. */
const dataPlane = (): NativeProxy =>
  loadAddon().create({
    concurrency: 1,
    fileFlushIntervalMs: 1000,
    tracesLocks: false,
    stats: new Uint8Array(),
  });

/** The same update: it listens on ports that the system chooses, and logs go nowhere. */
function harmless(update: Update): Update {
  const { listeners = [], admin_access_logs: own = [], ...rest } = update;
  const quiet = (log: AccessLog): AccessLog => ({ ...log, path: '/dev/null' });
  return {
    ...rest,
    admin_access_logs: own.map(quiet),
    listeners: listeners.map(
      ({ access_logs: logs = [], filter_chains: chains = [], ...other }) => ({
        ...other,
        address: { ip: Uint8Array.of(127, 0, 0, 1), port: 0 },
        access_logs: logs.map(quiet),
        filter_chains: chains.map(({ http, tcp, ...chain }) => ({
          ...chain,
          ...(http && { http: { ...http, access_logs: http.access_logs?.map(quiet) } }),
          ...(tcp && { tcp: { ...tcp, access_logs: tcp.access_logs?.map(quiet) } }),
        })),
      }),
    ),
  };
}

/** The processor's time: others may want it, too. */
const MOST_MS = 1000;

function inTime(verdictOf: ReturnType<typeof judge>): ReturnType<typeof judge> {
  return (text, format) => {
    const before = process.cpuUsage();
    const verdict = verdictOf(text, format);
    const { user, system } = process.cpuUsage(before);
    assert.ok(
      user + system < MOST_MS * 1000,
      `${(user + system) / 1000} ms for ${text.toString()}`,
    );
    return verdict;
  };
}

const folder = join(packageRoot(), 'examples');
const examples = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const share = Math.ceil(MUTATIONS / (examples.length + 2));

for (const name of examples) {
  test(`${share} mutations of examples/${name}: each is taken, or refused with reasons`, (t) => {
    const verdictOf = inTime(judge(t));
    const text = readFileSync(join(folder, name), 'utf8');
    const value = parse(text) as PlainObject;
    const random = randomNumbers(SEED + name.length);
    for (let count = 0; count < share; count++) {
      const isText = count % 4 === 0;
      const mutation = isText
        ? mutatedText(text, random)
        : JSON.stringify(mutatedValue(value, random), null, 1);
      const verdict = verdictOf(mutation, isText ? 'yaml' : 'json');
      check(verdict, mutation);
      checkAccepted(verdict, verdictOf, mutation);
    }
  });
}

test(`${share} mutations of a bootstrap in text protobuf: each is taken, or refused with reasons`, (t) => {
  const verdictOf = inTime(judge(t));
  assert.deepEqual(verdictOf(TEXT_PROTOBUF, 'pb_text').lines, []);
  const random = randomNumbers(SEED);
  for (let count = 0; count < share; count++) {
    const mutation = mutatedText(TEXT_PROTOBUF, random);
    const verdict = verdictOf(mutation, 'pb_text');
    check(verdict, mutation);
    checkAccepted(verdict, verdictOf, mutation);
  }
});

test(`${share} mutations of bootstraps in binary protobuf: each is taken, or refused with reasons`, (t) => {
  const verdictOf = inTime(judge(t));
  const random = randomNumbers(SEED);
  const type = schema().getMessage(BOOTSTRAP);
  const binaries = examples.map((name) => {
    const { bootstrap, issues } = loadBootstrap({ path: join(folder, name) });
    assert.deepEqual(issues.map(formatIssue), []);
    return binaryOf(schema(), BOOTSTRAP, printMessage(schema(), type, { ...bootstrap }));
  });
  for (let count = 0; count < share; count++) {
    const bytes = mutatedBytes(binaries[random(binaries.length)]!, random);
    const verdict = verdictOf(bytes, 'pb');
    if (!verdict.accepted) assert.notEqual(verdict.lines.length, 0);
    for (const line of verdict.lines) assert.doesNotMatch(line, OF_OUR_OWN);
    checkAccepted(verdict, verdictOf, bytes.toString('latin1'));
  }
});

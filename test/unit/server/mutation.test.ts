// Whatever becomes of a good bootstrap, it is taken, or refused with reasons and places: the server
// never crashes over it. FAIRLEAD_MUTATIONS sets how many mutations there are of all bootstraps.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { PlainObject } from '../../../src/config/values/objects.js';
import { printMessage } from '../../../src/config/print.js';
import { schema } from '../../../src/config/schema/schema.js';
import { packageRoot } from '../../../src/base/package-root.js';
import { encodeUpdate } from '../../../src/plan/plan.gen.js';
import { judge, type Verdict } from '../support/verdict.js';
import { mutatedText, mutatedValue, randomNumbers } from '../support/mutation.js';

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

/** What is taken can be sent to the data plane, and is taken again as it is printed. */
function checkAccepted(verdict: Verdict, verdictOf: ReturnType<typeof judge>, text: string): void {
  if (!verdict.accepted) return;
  const { bootstrap, compiled } = verdict.accepted;
  assert.ok(encodeUpdate(compiled.update).length >= 0);
  const type = schema().getMessage('envoy.config.bootstrap.v3.Bootstrap');
  const printed = JSON.stringify(printMessage(schema(), type, { ...bootstrap }));
  assert.ok(verdictOf(printed, 'json').accepted, `${text}\n${printed}`);
}

const folder = join(packageRoot(), 'examples');
const examples = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const share = Math.ceil(MUTATIONS / (examples.length + 1));

for (const name of examples) {
  test(`${share} mutations of examples/${name}: each is taken, or refused with reasons`, (t) => {
    const verdictOf = judge(t);
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
  const verdictOf = judge(t);
  assert.deepEqual(verdictOf(TEXT_PROTOBUF, 'pb_text').lines, []);
  const random = randomNumbers(SEED);
  for (let count = 0; count < share; count++) {
    const mutation = mutatedText(TEXT_PROTOBUF, random);
    const verdict = verdictOf(mutation, 'pb_text');
    check(verdict, mutation);
    checkAccepted(verdict, verdictOf, mutation);
  }
});

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MessageTexts } from '../../../../src/admin/config-dump/message-texts.js';
import { loadBootstrap } from '../../../../src/config/load.js';
import type { PlainObject } from '../../../../src/config/values/objects.js';
import { printMessage } from '../../../../src/config/print.js';
import { schema } from '../../../../src/config/schema/schema.js';
import { packageRoot } from '../../../../src/base/package-root.js';

const typeOf = () => schema().getMessage('envoy.config.bootstrap.v3.Bootstrap');

function load(yaml: string): PlainObject {
  const { bootstrap, issues } = loadBootstrap({ inlineYaml: yaml });
  assert.deepEqual(issues, []);
  return bootstrap as unknown as PlainObject;
}

const textOf = (yaml: string, isSensitive = false): string =>
  new MessageTexts(schema()).message(typeOf(), load(yaml), 0, isSensitive);

test('without secrets it reads as printed messages do, however the file orders its fields', () => {
  const examples = join(packageRoot(), 'examples');
  for (const name of readdirSync(examples).filter((file) => file.endsWith('.yaml'))) {
    const yaml = readFileSync(join(examples, name), 'utf8');
    const printed = JSON.stringify(printMessage(schema(), typeOf(), load(yaml)), null, 1);
    assert.equal(textOf(yaml), printed, name);
  }
});

test('brackets, quotes and control characters of texts and keys are escaped', () => {
  const yaml = JSON.stringify({ node: { metadata: { 'a<b>': '"\u0001\\', 'é\u2028': '<i>' } } });
  const text = textOf(yaml);
  assert.ok(!/[<>\u0001]/.test(text), text);
  assert.deepEqual(JSON.parse(text), JSON.parse(yaml));
});

test('defaults, empty lists and empty maps are left out, empty messages are not', () => {
  const text = textOf('{node: {id: "", locality: {}}, static_resources: {clusters: []}}');
  assert.deepEqual(JSON.parse(text), { node: { locality: {} }, static_resources: {} });
});

test('of what is sensitive texts and bytes are hidden and numbers left out', () => {
  const yaml = `
static_resources:
  secrets:
  - name: text
    generic_secret: {secret: {inline_string: hush}}
  - name: bytes
    generic_secret: {secret: {inline_bytes: aHVzaA==}}
  - name: file
    tls_certificate: {private_key: {filename: /etc/hush}, certificate_chain: {filename: /etc/chain}}
`;
  const { static_resources: shown } = JSON.parse(textOf(yaml)) as {
    static_resources: { secrets: unknown };
  };
  assert.deepEqual(shown.secrets, [
    { name: 'text', generic_secret: { secret: { inline_string: '[redacted]' } } },
    {
      name: 'bytes',
      generic_secret: { secret: { inline_bytes: Buffer.from('[redacted]').toString('base64') } },
    },
    {
      name: 'file',
      tls_certificate: {
        certificate_chain: { filename: '/etc/chain' },
        private_key: { filename: '[redacted]' },
      },
    },
  ]);
});

test('below what is sensitive JSON keeps its shape, and typed values their types', () => {
  const yaml = `
node: {metadata: {a: hush, n: 1, l: [hush, 2, null]}}
stats_flush_interval: 3s
stats_sinks:
- name: s
  typed_config:
    "@type": type.googleapis.com/envoy.config.metrics.v3.StatsdSink
    prefix: hush
    address: {socket_address: {address: 127.0.0.1, port_value: 8125}}
`;
  assert.deepEqual(JSON.parse(textOf(yaml, true)), {
    node: { metadata: { a: '[redacted]', n: null, l: ['[redacted]', null, null] } },
    stats_sinks: [
      {
        name: '[redacted]',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.config.metrics.v3.StatsdSink',
          address: { socket_address: { address: '[redacted]' } },
          prefix: '[redacted]',
        },
      },
    ],
  });
});

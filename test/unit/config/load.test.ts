import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { formatIssue } from '../../../src/config/issues/issue.js';
import { loadBootstrap } from '../../../src/config/load.js';
import { folderOf } from '../support/folder.js';

function file(t: TestContext, name: string, content: string | Uint8Array): string {
  const folder = folderOf(t);
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const problemsIn = (path: string): string[] =>
  loadBootstrap({ path }).issues.map((issue) => formatIssue(issue).replaceAll(path, 'FILE'));

describe('the file', () => {
  test('what is wrong in a file names it as it was given', (t) => {
    assert.deepEqual(problemsIn(file(t, 'a.yaml', 'node:\n  idd: x\n')), [
      'FILE:2:3: node.idd: unknown field of envoy.config.core.v3.Node; did you mean "id"?',
    ]);
  });

  test('a file that is not there is named', () => {
    const loaded = loadBootstrap({ path: '/nowhere/boot.yaml' });
    assert.equal(loaded.bootstrap, undefined);
    assert.deepEqual(loaded.issues.map(formatIssue), [
      'cannot read "/nowhere/boot.yaml": there is no such file',
    ]);
  });

  test('a folder is no file', () => {
    assert.deepEqual(problemsIn(tmpdir()), ['cannot read "FILE": it is a folder']);
  });

  test('without file and text there is no bootstrap', () => {
    assert.deepEqual(loadBootstrap({}).issues.map(formatIssue), [
      'no bootstrap is given; expected --config-path or --config-yaml',
    ]);
  });

  test('an empty file, and one of comments only, are refused', (t) => {
    const empty = 'FILE:1:1: is empty; expected a mapping with the fields of a bootstrap';
    assert.deepEqual(problemsIn(file(t, 'a.yaml', '')), [empty]);
    assert.deepEqual(problemsIn(file(t, 'a.yaml', '# nothing\n')), [empty]);
  });

  test('a list is no bootstrap', (t) => {
    assert.deepEqual(problemsIn(file(t, 'a.yaml', '- a\n')), [
      'FILE:1:1: unable to read a bootstrap from a list; expected a mapping with the fields of a bootstrap',
    ]);
  });

  test('.yml is YAML, and so may be JSON', (t) => {
    assert.deepEqual(problemsIn(file(t, 'a.yml', '{"node": {"id": "a"}}')), []);
  });

  test('any other name is JSON, and says so when it is not', (t) => {
    assert.deepEqual(problemsIn(file(t, 'bootstrap', '{"node": {"id": "a"}}')), []);
    assert.deepEqual(problemsIn(file(t, 'bootstrap.conf', 'node:\n  id: a\n')), [
      'FILE:1:1: is no JSON: expected a value, found "node:"; expected JSON, since the name does not end in .yaml or .yml',
    ]);
  });

  test('.pb is binary protobuf, and an empty one is an empty bootstrap', (t) => {
    const path = file(t, 'a.pb', new Uint8Array([10, 3, 10, 1, 97]));
    assert.deepEqual(loadBootstrap({ path }).bootstrap, { node: { id: 'a' } });
    assert.deepEqual(problemsIn(file(t, 'a.pb', new Uint8Array())), []);
  });

  test('.pb_text is protobuf text', (t) => {
    const path = file(t, 'a.pb_text', 'node { id: "a" }');
    assert.deepEqual(loadBootstrap({ path }).bootstrap, { node: { id: 'a' } });
  });

  test('JSON must be UTF-8; in YAML other bytes are replaced', (t) => {
    const bytes = (text: string) =>
      Buffer.concat([Buffer.from(text), Buffer.from([0xff]), Buffer.from('"}}')]);
    assert.deepEqual(problemsIn(file(t, 'a.json', bytes('{"node": {"id": "'))), [
      '"FILE" is no UTF-8 text',
    ]);
    const { bootstrap } = loadBootstrap({ path: file(t, 'a.yaml', bytes('{"node": {"id": "')) });
    assert.equal(bootstrap?.node?.id, '\ufffd');
  });

  test('a byte order mark is not part of the text, but JSON knows none', (t) => {
    assert.equal(problemsIn(file(t, 'a.json', '\ufeff{"node": {"id": "a"}}')).length, 1);
    assert.deepEqual(problemsIn(file(t, 'a.yaml', '\ufeffnode: {id: a}')), []);
  });

  test('YAML whose mark says so has two bytes for each character', (t) => {
    const little = Buffer.from('\ufeffnode: {id: é}', 'utf16le');
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      const { bootstrap } = loadBootstrap({ path: file(t, 'a.yaml', bytes) });
      assert.equal(bootstrap?.node?.id, 'é');
    }
  });
});

describe('--config-yaml over the file', () => {
  const base = `node: {id: a, cluster: b, metadata: {x: {deep: 1}, y: 2}}
static_resources:
  clusters:
  - {name: c1, connect_timeout: 1.5s}
admin: {address: {pipe: {path: /a}}}
`;

  function merged(t: TestContext, inlineYaml: string) {
    const path = file(t, 'a.yaml', base);
    const loaded = loadBootstrap({ path, inlineYaml });
    return { ...loaded, path };
  }

  test('scalars are replaced, messages merged, lists appended', (t) => {
    const { bootstrap } = merged(t, 'node: {id: z}\nstatic_resources: {clusters: [{name: c2}]}\n');
    assert.deepEqual([bootstrap?.node?.id, bootstrap?.node?.cluster], ['z', 'b']);
    assert.deepEqual(
      bootstrap?.static_resources?.clusters?.map(({ name }) => name),
      ['c1', 'c2'],
    );
  });

  test('entries of a Struct are replaced as a whole', (t) => {
    const { bootstrap } = merged(t, 'node: {metadata: {x: {other: 2}}}');
    assert.deepEqual(bootstrap?.node?.metadata, { x: { other: 2 }, y: 2 });
  });

  test('another member of a oneof replaces the one that was set', (t) => {
    const { bootstrap } = merged(
      t,
      'admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}',
    );
    assert.deepEqual(bootstrap?.admin?.address, {
      socket_address: { address: '127.0.0.1', port_value: 0 },
    });
  });

  test('a default leaves what a field without presence has', (t) => {
    assert.equal(merged(t, 'node: {id: ""}').bootstrap?.node?.id, 'a');
  });

  test('the rules judge the merged bootstrap', (t) => {
    assert.deepEqual(merged(t, 'admin: {address: {}}').issues, []);
  });

  test('a place is found in the text that has the field', (t) => {
    const { locate, path } = merged(
      t,
      'node: {id: z}\nstatic_resources:\n  clusters:\n  - {name: c2}\n',
    );
    assert.deepEqual(locate('static_resources.clusters[0].name'), {
      file: path,
      line: 4,
      column: 12,
    });
    assert.deepEqual(locate('static_resources.clusters[1].name'), {
      file: '--config-yaml',
      line: 4,
      column: 12,
    });
    assert.deepEqual(locate('node.id'), { file: '--config-yaml', line: 1, column: 12 });
    assert.deepEqual(locate('node.cluster'), { file: path, line: 1, column: 24 });
  });

  test('problems of both are told, those of the file first', (t) => {
    const path = file(t, 'a.yaml', 'nodde: {}\n');
    const { issues, bootstrap } = loadBootstrap({ path, inlineYaml: 'admin: 5' });
    assert.equal(bootstrap, undefined);
    assert.deepEqual(
      issues.map(({ position, path: field }) => [position?.file, field]),
      [
        [path, 'nodde'],
        ['--config-yaml', 'admin'],
      ],
    );
  });
});

describe('places', () => {
  const yaml = `static_resources:
  clusters:
  - name: c
    loadAssignment:
      cluster_name: c
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
`;
  const at = (path: string) => {
    const { line, column } = loadBootstrap({ inlineYaml: yaml }).locate(path) ?? {};
    return `${line}:${column}`;
  };

  test('a scalar is where its value is, a mapping where its key is', () => {
    assert.equal(at('static_resources.clusters[0].name'), '3:11');
    assert.equal(at('static_resources.clusters'), '2:3');
    assert.equal(at('static_resources.clusters[0]'), '3:5');
  });

  test('what is not there is where the nearest thing above it is', () => {
    assert.equal(at('static_resources.clusters[0].lb_policy'), '3:5');
    assert.equal(at('static_resources.clusters[7].name'), '2:3');
    assert.equal(at('admin.address'), '1:1');
  });

  test('fields are found under either name, map entries by their key', () => {
    assert.equal(at('static_resources.clusters[0].load_assignment.cluster_name'), '5:21');
    const options =
      'typed_extension_protocol_options["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"]';
    assert.equal(at(`static_resources.clusters[0].${options}.explicit_http_config`), '9:9');
  });
});

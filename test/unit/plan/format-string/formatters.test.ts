import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FormatPiece_Operator as Operator } from '../../../../src/plan/plan.gen.js';
import { any, compile, connectionManager, issuesOf, listenerOf } from '../helpers.js';

const folder = mkdtempSync(join(tmpdir(), 'formatters-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'a.txt');
writeFileSync(file, 'what it holds');

const FILES = {
  name: 'files',
  typed_config: any('envoy.extensions.formatter.file_content.v3.FileContent', {}),
};
const secrets = (secret_configs: object) => ({
  name: 'secrets',
  typed_config: any('envoy.extensions.formatter.generic_secret.v3.GenericSecret', {
    secret_configs,
  }),
});
const OWN = { name: 'own', generic_secret: { secret: { inline_string: 'told' } } };

function bodyOf(text: string, formatters: readonly object[]) {
  const body_format = { text_format_source: { inline_string: text }, formatters };
  const manager = connectionManager({}, { local_reply_config: { body_format } });
  const compiled = compile({
    static_resources: { listeners: [listenerOf(manager)], secrets: [OWN] },
  });
  const http = compiled.update.listeners?.[0]?.filter_chains?.[0]?.http;
  return { issues: issuesOf(compiled), pieces: http?.local_replies?.format?.format?.pieces ?? [] };
}

test('what a file holds is a text that changes, the same for all that tell of it', () => {
  const text = `%FILE_CONTENT(${file}):4% %FILE_CONTENT(:${file}:)% %FILE_CONTENT(${file}:${folder})%`;
  const { issues, pieces } = bodyOf(text, [FILES]);
  assert.deepEqual(issues, []);
  const [first, second, watched] = pieces.filter((one) => one.live_text);
  assert.equal(first?.operator, Operator.LIVE_TEXT);
  assert.equal(Buffer.from(first.live_text?.value ?? []).toString(), 'what it holds');
  assert.equal(first.max_length, 4);
  assert.equal(second?.live_text?.name, first.live_text?.name);
  assert.notEqual(watched?.live_text?.name, first.live_text?.name);
});

test('a file that is not there, is a device, or is none of two names is refused', () => {
  const refused = (argument: string): string =>
    bodyOf(`%FILE_CONTENT${argument}%`, [FILES]).issues.join();
  assert.match(refused(`(${folder}/none)`), /Invalid path: \S+none/);
  assert.match(refused('(/dev/zero)'), /Invalid path: \/dev\/zero/);
  assert.match(refused(`(${file}:${folder}/none)`), /unable to add filesystem watch for file/);
  for (const argument of ['', '()', '(:)', '(a:b:c)']) {
    assert.match(refused(argument), /expected format 'path' or 'path:watch_directory'/);
  }
  assert.match(bodyOf(`%FILE_CONTENT(${file})%`, []).issues.join(), /Not supported field/);
});

test('a secret is told of by the name that its formatter gives it', () => {
  const { issues, pieces } = bodyOf('%SECRET(a)%', [FILES, secrets({ a: { name: 'own' } })]);
  assert.deepEqual(issues, []);
  assert.equal(pieces[0]?.argument, 'SECRET');
  assert.equal(Buffer.from(pieces[0]?.live_text?.value ?? []).toString(), 'told');
  const refused = (configs: object): string =>
    bodyOf('%SECRET(a)%', [secrets(configs)]).issues.join();
  assert.match(refused({ b: { name: 'own' } }), /secret 'a' is not configured in secret_configs/);
  assert.match(refused({ a: { name: 'none' } }), /'none' not found in static bootstrap resources/);
});

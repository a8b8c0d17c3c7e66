import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpText, parseErrorText } from '../../../src/cli/help.js';
import { OPTION_LIST } from '../../../src/cli/options.js';

test('--help has every option that works, and none that does not', async () => {
  const text = await helpText('fairlead');
  const shown = [...text.matchAll(/^ {2,6}(?:-\w, )?--([\w-]+) /gm)].map(([, name]) => name).sort();

  const working = OPTION_LIST.filter(({ help }) => help !== undefined);
  assert.deepEqual(shown, working.map(({ name }) => name).sort());
  assert.match(text, /^USAGE: fairlead -c <file> \[options\]\n/);
});

test('a mistake is shown as the real server shows it, with the usage in lines of 100 columns', () => {
  const text = parseErrorText('fairlead', '-v', "Couldn't find match for argument");

  assert.match(
    text,
    /^PARSE ERROR: Argument: -v\n {13}Couldn't find match for argument\n\nBrief USAGE: \n/,
  );
  assert.match(text, /\n\nFor complete USAGE and HELP type: \n {3}fairlead --help\n\n$/);
  for (const line of text.split('\n')) assert.ok(line.length <= 100, line);
});

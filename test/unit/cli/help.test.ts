import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpText, parseErrorText } from '../../../src/cli/help.js';
import { GROUPS } from '../../../src/options/option-info.js';
import { OPTION_LIST } from '../../../src/options/options.js';

test('--help explains every option once, below its group', () => {
  const text = helpText('fairlead', 80);
  const shown = [...text.matchAll(/^ {2}(?:-\w, )?--([\w-]+)(?: <\S+>)?$/gm)].map(
    ([, name]) => name,
  );

  assert.deepEqual(shown.toSorted(), OPTION_LIST.map(({ name }) => name).sort());
  assert.ok(text.startsWith('USAGE\n'));
  const titles = [...text.matchAll(/^([A-Z ]+) OPTIONS$/gm)].map(([, title]) => title);
  assert.deepEqual(
    titles,
    GROUPS.map((group) => group.toUpperCase()),
  );
});

test('--help says defaults, and how a value is called', () => {
  const text = helpText('fairlead', 100);

  assert.match(text, /^ {2}--mode <serve\|validate\|init_only>\n/m);
  assert.match(text, /^ {2}--drain-time-s <seconds>\n(?: {6}.*\n)* {6}.*The default is 600\.\n/m);
  assert.match(text, /^ {2}-c, --config-path <file>\n/m);
});

test('--help keeps to the width that it is given', () => {
  for (const width of [40, 60, 100]) {
    const wide = helpText('fairlead', width)
      .split('\n')
      .filter((line) => line.length > width && line.trim().includes(' '));
    // What is typed as it stands is not broken.
    assert.deepEqual(
      wide.filter((line) => !/^ {2}\S/.test(line)),
      [],
    );
  }
});

test('a mistake is shown as the real server shows it, with the usage in lines of the width', () => {
  const mistake = { argument: '-v', why: "Couldn't find match for argument" };
  const text = parseErrorText('fairlead', mistake, 100);

  assert.match(
    text,
    /^PARSE ERROR: Argument: -v\n {13}Couldn't find match for argument\n\nBrief USAGE: \n/,
  );
  assert.match(text, /\n\nFor complete USAGE and HELP type: \n {3}fairlead --help\n\n$/);
  for (const line of text.split('\n')) assert.ok(line.length <= 100, line);
});

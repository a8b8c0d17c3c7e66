import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpText, parseErrorText } from '../../../src/cli/help.js';
import { MANUAL } from '../../../src/cli/manual.js';
import { GROUPS } from '../../../src/options/option-info.js';
import { OPTION_LIST } from '../../../src/options/options.js';
import { RESTARTER_MANUAL } from '../../../src/restarter/manual.js';
import { RESTARTER_OPTIONS } from '../../../src/restarter/options.js';

const help = (width: number): string => helpText(MANUAL, OPTION_LIST, width);

test('--help explains every option once, below its group', () => {
  const lines = help(80).split('\n');
  const shown = lines.flatMap(
    (line) => /^ {2}(?:-\w, | {4})--([\w-]+)(?: |$)/.exec(line)?.[1] ?? [],
  );
  const titles = lines.filter((line) => GROUPS.some((group) => line === `${group}:`));

  assert.deepEqual(shown.toSorted(), OPTION_LIST.map(({ name }) => name).toSorted());
  assert.deepEqual(
    titles,
    GROUPS.map((group) => `${group}:`),
  );
});

test('--help says defaults and the values that there are', () => {
  const text = help(100).replaceAll(/\s+/g, ' ');

  assert.match(text, /--drain-time-s [^[]*\[number\] \[default: 600\]/);
  assert.match(text, /--mode [^[]*\[string\] \[choices: "serve", "validate", "init_only"\]/);
  assert.match(text, /--cpuset-threads [^[]*\[boolean\]/);
});

test('--help keeps to the width that it is given', () => {
  for (const width of [40, 60, 100]) {
    const wide = help(width)
      .split('\n')
      .filter((line) => line.length > width);
    assert.deepEqual(wide, []);
  }
});

test("the restarter's --help is of its own options, with what it runs and when", () => {
  const text = helpText(RESTARTER_MANUAL, RESTARTER_OPTIONS, 80);

  assert.match(text, /^Usage: fairlead-hot-restarter \[options\] -c <file>/);
  for (const { name } of RESTARTER_OPTIONS) assert.ok(text.includes(`--${name} `), name);
  for (const title of ['What is run', 'Signals', 'Exit status']) {
    assert.ok(text.includes(`\n${title}:\n`), title);
  }
});

test('a mistake is shown as the real server shows it', () => {
  const mistake = { argument: '-v', why: "Couldn't find match for argument" };
  const text = parseErrorText('fairlead', mistake);

  assert.match(
    text,
    /^PARSE ERROR: Argument: -v\n {13}Couldn't find match for argument\n\nBrief USAGE: \n/,
  );
  assert.match(text, /\n\nFor complete USAGE and HELP type: \n {3}fairlead --help\n\n$/);
});

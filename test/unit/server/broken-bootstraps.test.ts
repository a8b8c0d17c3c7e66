// Every bootstrap of broken-bootstraps.txt gets exactly the lines that stand below it there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/package-root.js';
import { judge } from '../support/verdict.js';

interface Story {
  readonly name: string;
  readonly format: string;
  readonly text: string;
  readonly lines: readonly string[];
}

function readStories(file: string): Story[] {
  const text = readFileSync(join(packageRoot(), 'test/unit/server', file), 'utf8');
  return text
    .split(/^== /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...rest] = part.split('\n');
      const [name = '', format = ''] = title.split(' · ');
      const end = rest.findIndex((line) => line.startsWith('-- '));
      const said = rest.slice(end).filter((line) => line.startsWith('-- '));
      return {
        name,
        format,
        text: rest
          .slice(0, end)
          .map((line) => `${line}\n`)
          .join(''),
        lines: said.map((line) => line.slice('-- '.length)),
      };
    });
}

const stories = readStories('broken-bootstraps.txt');

test('there are more than fifty stories, each of its own name', () => {
  assert.ok(stories.length > 50);
  assert.equal(new Set(stories.map(({ name }) => name)).size, stories.length);
});

for (const { name, format, text, lines } of stories) {
  test(name, (t) => {
    assert.deepEqual(judge(t)(text, format).lines, lines);
  });
}

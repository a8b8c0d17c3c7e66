import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeFolder } from './start-proxy.js';

const CODE = `
const Module = require('node:module');
const load = Module._load;
Module._load = (name, ...rest) => {
  if (name.startsWith('uWebSockets.js')) throw new Error('there is no such binary');
  return load(name, ...rest);
};
`;

/** Commands that are started from here on find no binary of uWebSockets.js, until the story ends. */
export function withoutUws(t: TestContext): void {
  const path = join(makeFolder(t), 'without-uws.cjs');
  writeFileSync(path, CODE);
  process.env.NODE_OPTIONS = `--require=${path}`;
  t.after(() => delete process.env.NODE_OPTIONS);
}

// What is wrong with a text that is no YAML, in the words of the real server, which reads it by
// yaml-cpp. For answers that show nothing else; where a text has a file, its place is told instead.
import type { Fault } from '../format.js';

interface Found {
  readonly text: string;
  /** Where the package found fault. */
  readonly at: number;
}

/** What yaml-cpp says, and where it does; undefined: it says something else. */
type Words = (found: Found, match: RegExpExecArray) => readonly [words: string, at: number];

const PREFIX = /^is no YAML from line \d+ on: /;

const illegalFlowEnd: Words = ({ at }) => ['illegal flow end', at];
const illegalMapValue: Words = ({ text, at }) => {
  if (/^-\s/.test(text.slice(at))) return ['end of map not found', at];
  return ['illegal map value', Math.max(at, text.indexOf(':', at))];
};

/** It is found at the end of the text, of which yaml-cpp says that it is the beginning of its line. */
const openFlow: Words = (found, match) => {
  const { text, at } = found;
  if (/[\]}]/.test(text.charAt(at))) return illegalFlowEnd(found, match);
  const kind = match[1] === 'sequence' ? 'sequence' : 'map';
  const isEnd = text.slice(at).trim() === '';
  const where = isEnd ? text.lastIndexOf('\n') + 1 : text.indexOf(':', at);
  return [`end of ${kind} flow not found`, Math.max(0, where)];
};

const WORDS: readonly (readonly [pattern: RegExp, words: Words])[] = [
  [/^Missing closing/, ({ text }) => ['illegal EOF in scalar', text.length]],
  [/^Flow (sequence|map) .*must/, openFlow],
  [/^Unexpected flow-(?:seq|map)-end/, illegalFlowEnd],
  [
    /^alias \*(.*) has no anchor/,
    ({ at }, [, name]) => [`the referenced anchor is not defined: ${name ?? ''}`, at],
  ],
  [/reserved character/, ({ at }) => ['unknown token', at]],
  [
    /^Plain value cannot start with flow indicator/,
    ({ at }) =>
      at === 0
        ? ['plain value cannot start with flow indicator character', at]
        : ['end of map not found', at],
  ],
  [/^Block scalar header/, ({ at }) => ['unexpected character in block scalar', at]],
  [/^Anchor cannot be/, ({ at }) => ['anchor not found after &', at + 1]],
  [/^Alias cannot be/, ({ at }) => ['alias not found after *', at + 1]],
  [/^(?:Nested mappings|Implicit keys|Tabs are)/, illegalMapValue],
  [/^Unexpected scalar/, ({ at }) => ['unexpected scalar', at]],
  [
    /^Invalid escape sequence \\([^xuU])/,
    ({ at }, [, letter = '']) => [`unknown escape character: ${letter}`, at + 2],
  ],
];

export function yamlError(text: string, { message, offset }: Fault): string {
  const what = message.replace(PREFIX, '');
  let said: readonly [words: string, at: number] = [what, offset];
  for (const [pattern, words] of WORDS) {
    const match = pattern.exec(what);
    if (!match) continue;
    said = words({ text, at: offset }, match);
    break;
  }
  const before = text.slice(0, said[1]).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return `yaml-cpp: error at line ${before.length}, column ${column}: ${said[0]}`;
}

// YAML as the real server reads it: plain `n`, `no`, `on` and the like are booleans, `010` is eight,
// the last of equal keys wins, quoted scalars are always strings.
import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, type Document as YamlDocument, type Node, type ScalarTag } from 'yaml';
import type { Path, Position } from '../issue.js';
import type { ReadResult } from './document.js';

/** Aliases beyond this are an attack, not a configuration. */
const MAX_ALIASES = 10_000;

const plainTag = (tag: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag => ({
  tag: `tag:yaml.org,2002:${tag}`,
  default: true,
  test,
  resolve,
});

const PLAIN_TAGS: ScalarTag[] = [
  plainTag('null', /^(?:~|null|Null|NULL)?$/, () => null),
  plainTag('bool', /^(?:[Yy]|[Yy]es|YES|[Tt]rue|TRUE|[Oo]n|ON)$/, () => true),
  plainTag('bool', /^(?:[Nn]|[Nn]o|NO|[Ff]alse|FALSE|[Oo]ff|OFF)$/, () => false),
  plainTag('int', /^[-+]?0[0-7]+$/, (text) => wholeNumber(text, parseInt(text, 8))),
  plainTag('int', /^[-+]?0[xX][0-9a-fA-F]+$/, (text) => wholeNumber(text, parseInt(text, 16))),
  plainTag('int', /^[-+]?(?:0|[1-9][0-9]*)$/, (text) => wholeNumber(text, Number(text))),
  plainTag('float', /^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?$/, Number),
];

/** Numbers that a double cannot hold stay text; 64-bit fields read them from there. */
function wholeNumber(text: string, number: number): number | string {
  return Number.isSafeInteger(number) ? number : text;
}

export function readYaml(text: string, file: string): ReadResult {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  let document: YamlDocument.Parsed;
  try {
    document = parseDocument(text, {
      schema: 'failsafe',
      customTags: (tags) => [...tags, ...PLAIN_TAGS],
      merge: true,
      uniqueKeys: false,
      lineCounter: lines,
      strict: true,
    });
  } catch (error) {
    return { error: { message: error instanceof Error ? error.message : String(error) } };
  }
  const [problem] = document.errors;
  if (problem) {
    const message = problem.message.split(' at line ')[0]!.replace(/:?\s*$/, '');
    return { error: { message, position: at(problem.pos[0]) } };
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { document: { value, locate: (path) => locate(document, path, at) } };
  } catch (error) {
    return { error: { message: error instanceof Error ? error.message : String(error), position: { file, line: 1, column: 1 } } };
  }
}

function locate(document: YamlDocument.Parsed, path: Path, at: (offset: number) => Position): Position | undefined {
  let node: Node | null | undefined = document.contents;
  let offset = node?.range?.[0];
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    let next: Node | null | undefined;
    let place: number | undefined;
    if (isMap(node)) {
      // The last of equal keys is the one that counts.
      for (const pair of node.items) {
        if (!isScalar(pair.key) || String(pair.key.value) !== String(key)) continue;
        next = pair.value as Node | null;
        place = (pair.key.range ?? [offset ?? 0])[0];
      }
    } else if (isSeq(node) && typeof key === 'number') {
      next = node.items[key] as Node | undefined;
      place = next?.range?.[0];
    }
    if (place === undefined) break;
    offset = place;
    node = next;
  }
  return offset === undefined ? undefined : at(offset);
}

// The bootstrap: a file, a text of the command line, or the one merged over the other. And files with
// other messages, which are read the same way.
import { readFileSync } from 'node:fs';
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../build/messages.gen.js';
import { decodeMessage, type Decoded, type DecodeOptions } from './decode.js';
import { formatPath, parsePath, type FieldPath } from './issues/field-path.js';
import type { Format } from './formats/format.js';
import { formatOf } from './formats/formats.js';
import { jsonFormat } from './formats/json-format.js';
import { yamlFormat } from './formats/yaml/yaml-format.js';
import { inDocumentOrder, type Issue, type Position } from './issues/issue.js';
import { mergeMessage } from './merge.js';
import { describeValue, isObject } from './values/objects.js';
import { schema } from './schema/schema.js';
import { SourceText } from './source-text.js';
import { mayBeV2, upgradeToV3, type Rewrite } from './v2/upgrade-v2.js';
import { validateMessage } from './validate.js';

export interface BootstrapSource {
  /** Of a file; the end of its name says its format. */
  readonly path?: string;
  /** YAML, or JSON, which is merged over the file. */
  readonly inlineYaml?: string;
}

export interface LoadOptions extends DecodeOptions {
  /** Whether what is v2 is refused; otherwise it is upgraded. */
  readonly refusesV2?: boolean | undefined;
}

/** A message of the type `M`, with all that is wrong with it. */
export interface Loaded<M> {
  /**
   * What could be decoded, also where an issue is an error: to be looked at for further errors, and
   * for nothing else. Absent where a source could not be read at all.
   */
  readonly partial?: M;
  /** Every value could be read: what is wrong is only that rules are broken, or fields unknown. */
  readonly isWhole: boolean;
  /** Everything that is wrong, in the order of the file. */
  readonly issues: readonly Issue[];
  /** The sources as positions call them, in their order. */
  readonly files: readonly string[];
  /** What was v2 and is v3 now. */
  readonly rewrites: readonly Rewrite[];
  /** The place of a field, or of the nearest thing above it. */
  locate(path: string): Position | undefined;
}

export interface LoadedBootstrap extends Loaded<Bootstrap> {
  /** Absent where an issue is an error. */
  readonly bootstrap?: Bootstrap;
}

/** What messages call the text of the command line. */
const INLINE = '--config-yaml';

/** What is read, and what people call it. */
interface Kind {
  readonly type: string;
  readonly name: string;
}
const BOOTSTRAP: Kind = { type: 'envoy.config.bootstrap.v3.Bootstrap', name: 'a bootstrap' };

/** Never throws for what the source says. */
export function loadBootstrap(source: BootstrapSource, options: LoadOptions = {}): LoadedBootstrap {
  const issues: Issue[] = [];
  const texts: SourceText[] = [];
  if (source.path !== undefined) {
    const text = readFile(source.path, BOOTSTRAP.type, issues);
    if (text) texts.push(text);
  }
  if (source.inlineYaml !== undefined)
    texts.push(new SourceText(INLINE, source.inlineYaml, yamlFormat, BOOTSTRAP.type));
  if (source.path === undefined && source.inlineYaml === undefined) {
    issues.push(problem('no bootstrap is given', '--config-path or --config-yaml'));
  }
  const loaded = loadTexts<Bootstrap>(BOOTSTRAP, texts, issues, options);
  const hasError = loaded.issues.some(({ severity }) => severity === 'error');
  return { ...loaded, ...(loaded.partial && !hasError && { bootstrap: loaded.partial }) };
}

/** A file with a message of this type, which people call `name`. Never throws for what it says. */
export function loadFile<M>(
  path: string,
  type: string,
  name: string,
  options: LoadOptions = {},
): Loaded<M> {
  const issues: Issue[] = [];
  const text = readFile(path, type, issues);
  return loadTexts<M>({ type, name }, text ? [text] : [], issues, options);
}

/** No file's, whose name would say its format. */
const jsonText: Format = { ...jsonFormat, name: 'JSON text' };

/** The same, of a text that came from elsewhere: JSON, and nothing else. */
export function loadJson<M>(
  from: string,
  text: string,
  kind: { readonly type: string; readonly name: string },
  options: LoadOptions = {},
): Loaded<M> {
  return loadTexts<M>(kind, [new SourceText(from, text, jsonText, kind.type)], [], options);
}

function loadTexts<M>(
  kind: Kind,
  texts: readonly SourceText[],
  failures: readonly Issue[],
  options: LoadOptions,
): Loaded<M> {
  const type = schema().getMessage(kind.type);
  const issues = [...failures];
  const rewrites: Rewrite[] = [];
  const decoded: DecodedText[] = [];
  for (const text of texts) {
    const one = decodeText(kind, text, issues, rewrites, options);
    if (one) decoded.push(one);
  }
  const locate = (path: FieldPath): Position | undefined => locateIn(texts, path);
  const [first, ...rest] = decoded;
  for (const { message } of rest) if (first) mergeMessage(type, first.message, message);
  if (first && isJudgeable(decoded) && failures.length === 0 && decoded.length === texts.length) {
    for (const issue of validateMessage(schema(), type, first.message, first.broken)) {
      issues.push(placed(issue, locate(parsePath(issue.path))));
    }
  }
  const files = texts.map(({ file }) => file);
  const isRead = first !== undefined && decoded.length === texts.length;
  return {
    ...(isRead && { partial: first.message as M }),
    isWhole: isRead && failures.length === 0 && decoded.every((one) => one.isWhole),
    issues: inDocumentOrder(issues, files),
    files,
    rewrites,
    locate: (path) => locate(parsePath(path)),
  };
}

interface DecodedText extends Decoded {
  readonly isWhole: boolean;
}

/** The paths that are broken in one of two texts say nothing of the merged message. */
const isJudgeable = (decoded: readonly Decoded[]): boolean =>
  decoded.length === 1 || decoded.every(({ broken }) => broken.size === 0);

function decodeText(
  kind: Kind,
  text: SourceText,
  issues: Issue[],
  rewrites: Rewrite[],
  options: LoadOptions,
): DecodedText | undefined {
  const type = schema().getMessage(kind.type);
  const read = text.read();
  if (!read.ok) {
    const position = text.positionOf(read.fault.offset);
    // Nobody opens the command line in an editor at "1:2".
    const where =
      position?.file === INLINE ? ` (line ${position.line}, column ${position.column})` : '';
    issues.push(placed(problem(read.fault.message + where, text.hint), position));
    return undefined;
  }
  if (!isObject(read.value)) {
    const isEmpty = read.value === null;
    const issue = problem(
      isEmpty ? 'is empty' : `unable to read ${kind.name} from ${describeValue(read.value)}`,
      `a mapping with the fields of ${kind.name}`,
    );
    issues.push(placed(issue, text.positionOf(0)));
    return undefined;
  }
  if (!options.refusesV2 && text.mayMatch(mayBeV2)) {
    const upgrade = upgradeToV3(schema(), type, read.value);
    rewrites.push(...upgrade.rewrites);
    for (const { path, message } of upgrade.problems) {
      const issue = { ...problem(message), path: formatPath(path) };
      issues.push(placed(issue, text.locate(path, 'key')?.position));
    }
    text.useOrigins((path) => upgrade.originOf(path));
  }
  const unknownFields = text.refusesUnknownFields ? 'error' : options.unknownFields;
  const decoded = decodeMessage(schema(), type, read.value, { ...options, unknownFields });
  for (const issue of decoded.issues) {
    const part =
      issue.code === 'unknown_field' || issue.code === 'deprecated_field' ? 'key' : 'value';
    issues.push(placed(issue, text.locate(parsePath(issue.path), part)?.position));
  }
  const isWhole = !decoded.issues.some(
    ({ severity, code }) =>
      severity === 'error' && code !== 'unknown_field' && code !== 'unknown_value',
  );
  if (!read.faults?.length) return { ...decoded, isWhole };
  const broken = new Set(decoded.broken);
  for (const { offset, path, severity = 'error', ...fault } of read.faults) {
    const issue: Issue = { ...fault, severity, path: formatPath(path) };
    issues.push(placed(issue, text.positionOf(offset)));
    if (severity === 'error') broken.add(issue.path);
  }
  return { ...decoded, broken, isWhole: isWhole && broken.size === decoded.broken.size };
}

/** In the text that sets the field last; elements of its lists follow those of the texts before. */
function locateIn(texts: readonly SourceText[], path: FieldPath): Position | undefined {
  const last = texts.at(-1);
  if (!last) return undefined;
  const before = texts.slice(0, -1);
  const shifted = path.map((segment, index) => {
    if (typeof segment !== 'number') return segment;
    return before.reduce((count, text) => count - text.countItems(path.slice(0, index)), segment);
  });
  const isBefore = shifted.some((segment) => typeof segment === 'number' && segment < 0);
  const found = isBefore ? undefined : last.locate(shifted);
  if (found?.isExact || before.length === 0) return found?.position;
  return locateIn(before, path) ?? found?.position;
}

function readFile(path: string, type: string, issues: Issue[]): SourceText | undefined {
  try {
    return textOf(path, type, readFileSync(path), issues);
  } catch (error) {
    issues.push(problem(`cannot read "${path}": ${systemReason(error)}`));
    return undefined;
  }
}

function textOf(
  path: string,
  type: string,
  bytes: Uint8Array,
  issues: Issue[],
): SourceText | undefined {
  const format = formatOf(path);
  if (format.encoding === 'bytes')
    return new SourceText(path, Buffer.from(bytes).toString('latin1'), format, type);
  try {
    const decoder = new TextDecoder(encodingOf(format, bytes), {
      fatal: format.encoding === 'strict-utf8',
      ignoreBOM: format.refusesByteOrderMark === true,
    });
    return new SourceText(path, decoder.decode(bytes), format, type);
  } catch {
    issues.push(problem(`"${path}" is no UTF-8 text`));
    return undefined;
  }
}

/** YAML says by its first bytes that it has two for each character. */
function encodingOf(
  { encoding, refusesByteOrderMark }: Format,
  [first, second]: Uint8Array,
): string {
  if (encoding !== 'lenient-utf8' || refusesByteOrderMark) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

function systemReason(error: unknown): string {
  const code = (error as { readonly code?: unknown }).code;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'EACCES') return 'permission denied';
  return error instanceof Error ? error.message : String(error);
}

const problem = (message: string, expected?: string): Issue => ({
  severity: 'error',
  path: '',
  message,
  ...(expected !== undefined && { expected }),
});

const placed = (issue: Issue, position: Position | undefined): Issue =>
  position && !issue.position ? { ...issue, position } : issue;

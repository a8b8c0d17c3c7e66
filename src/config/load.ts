// The bootstrap: a file, a text of the command line, or the one merged over the other.
import { readFileSync } from 'node:fs';
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../build/messages.gen.js';
import { decodeMessage, type Decoded, type DecodeOptions } from './decode.js';
import { formatPath, parsePath, type FieldPath } from './issues/field-path.js';
import { formatOf } from './formats/formats.js';
import { yamlFormat } from './formats/yaml/yaml-format.js';
import { inDocumentOrder, type Issue, type Position } from './issues/issue.js';
import { mergeMessage } from './merge.js';
import { describeValue, isObject } from './values/objects.js';
import { schema, type MessageType } from './schema/schema.js';
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

export interface LoadedBootstrap {
  /** Absent where an issue is an error. */
  readonly bootstrap?: Bootstrap;
  /**
   * What could be decoded, also where an issue is an error: to be looked at for further errors, and
   * for nothing else. Absent where a source could not be read at all.
   */
  readonly partial?: Bootstrap;
  /** Everything that is wrong, in the order of the file. */
  readonly issues: readonly Issue[];
  /** The sources as positions call them, in their order. */
  readonly files: readonly string[];
  /** What was v2 and is v3 now. */
  readonly rewrites: readonly Rewrite[];
  /** The place of a field, or of the nearest thing above it. */
  locate(path: string): Position | undefined;
}

/** What messages call the text of the command line. */
const INLINE = '--config-yaml';
const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';

/** Never throws for what the source says. */
export function loadBootstrap(source: BootstrapSource, options: LoadOptions = {}): LoadedBootstrap {
  const issues: Issue[] = [];
  const texts: SourceText[] = [];
  if (source.path !== undefined) {
    const text = readFile(source.path, issues);
    if (text) texts.push(text);
  }
  if (source.inlineYaml !== undefined)
    texts.push(new SourceText(INLINE, source.inlineYaml, yamlFormat));
  if (source.path === undefined && source.inlineYaml === undefined) {
    issues.push(problem('no bootstrap is given', '--config-path or --config-yaml'));
  }
  return loadTexts(texts, issues, options);
}

function loadTexts(
  texts: readonly SourceText[],
  failures: readonly Issue[],
  options: LoadOptions,
): LoadedBootstrap {
  const type = schema().getMessage(BOOTSTRAP);
  const issues = [...failures];
  const rewrites: Rewrite[] = [];
  const decoded: Decoded[] = [];
  for (const text of texts) {
    const one = decodeText(type, text, issues, rewrites, options);
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
  const hasError = issues.some(({ severity }) => severity === 'error');
  const files = texts.map(({ file }) => file);
  return {
    ...(first && !hasError && { bootstrap: first.message as Bootstrap }),
    ...(first && decoded.length === texts.length && { partial: first.message as Bootstrap }),
    issues: inDocumentOrder(issues, files),
    files,
    rewrites,
    locate: (path) => locate(parsePath(path)),
  };
}

/** The paths that are broken in one of two texts say nothing of the merged message. */
const isJudgeable = (decoded: readonly Decoded[]): boolean =>
  decoded.length === 1 || decoded.every(({ broken }) => broken.size === 0);

function decodeText(
  type: MessageType,
  text: SourceText,
  issues: Issue[],
  rewrites: Rewrite[],
  options: LoadOptions,
): Decoded | undefined {
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
      isEmpty ? 'is empty' : `unable to read a bootstrap from ${describeValue(read.value)}`,
      'a mapping with the fields of a bootstrap',
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
  if (!read.faults?.length) return decoded;
  const broken = new Set(decoded.broken);
  for (const { offset, path, severity = 'error', ...fault } of read.faults) {
    const issue: Issue = { ...fault, severity, path: formatPath(path) };
    issues.push(placed(issue, text.positionOf(offset)));
    if (severity === 'error') broken.add(issue.path);
  }
  return { ...decoded, broken };
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

function readFile(path: string, issues: Issue[]): SourceText | undefined {
  try {
    return textOf(path, readFileSync(path), issues);
  } catch (error) {
    issues.push(problem(`cannot read "${path}": ${systemReason(error)}`));
    return undefined;
  }
}

function textOf(path: string, bytes: Uint8Array, issues: Issue[]): SourceText | undefined {
  const format = formatOf(path);
  if (format.encoding === 'bytes')
    return new SourceText(path, Buffer.from(bytes).toString('latin1'), format);
  try {
    const decoder = new TextDecoder('utf-8', {
      fatal: format.encoding === 'strict-utf8',
      ignoreBOM: format.refusesByteOrderMark === true,
    });
    return new SourceText(path, decoder.decode(bytes), format);
  } catch {
    issues.push(problem(`"${path}" is no UTF-8 text`));
    return undefined;
  }
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

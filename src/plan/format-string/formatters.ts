// The formatters that a format has of its own: the operators that they know.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import type {
  envoy_config_core_v3_TypedExtensionConfig as Formatter,
  envoy_extensions_formatter_generic_secret_v3_GenericSecret as GenericSecret,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { FileText } from '../live-sources.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { FormatPiece_Operator as Operator, type LiveText } from '../plan.gen.js';
import { compileSecret } from '../secret-text.js';
import { header, type Compiled } from '../format/format-operators.js';
import type { OwnOperators } from '../format/format.js';

const WITHOUT_QUERY = 'envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery';
/** What it knows every format knows. */
const METADATA = 'envoy.extensions.formatter.metadata.v3.Metadata';
const FILE_CONTENT = 'envoy.extensions.formatter.file_content.v3.FileContent';
const SECRET = supportedFields<GenericSecret>(
  'envoy.extensions.formatter.generic_secret.v3.GenericSecret',
  ['secret_configs'],
);

/** Undefined: none says more than what is always known. `context`: absent where nothing can change later. */
export function readFormatters(
  formatters: readonly Formatter[] | undefined,
  place: Place,
  context: CompileContext | undefined,
): OwnOperators | undefined {
  const all = (formatters ?? []).flatMap((formatter, index): OwnOperators | [] => {
    const { typed_config: config } = formatter;
    const at = place.index(index);
    const type = config?.$type ?? '';
    if (type === METADATA) return [];
    if (type === WITHOUT_QUERY) return withoutQuery;
    if (context && type === FILE_CONTENT) return fileContent(context);
    if (context && type === SECRET.type)
      return secrets(config as GenericSecret, at.field('typed_config'), context);
    const others = context ? `, ${FILE_CONTENT}, ${SECRET.type}` : '';
    at.error(`the formatter ${formatter.name ?? ''} (${type}) is not supported`, {
      expected: `${WITHOUT_QUERY}${others} or ${METADATA}`,
    });
    return [];
  });
  if (all.length === 0) return undefined;
  // The first that knows an operator has it.
  return (name, argument, length) => {
    for (const one of all) {
      const piece = one(name, argument, length);
      if (piece) return piece;
    }
    return undefined;
  };
}

const withoutQuery: OwnOperators = (name, argument, length) => {
  if (name !== 'REQ_WITHOUT_QUERY') return undefined;
  const rule = header(Operator.REQ_WITHOUT_QUERY);
  return rule.compile({ name, argument, length, use: 'http_log' });
};

/** "%FILE_CONTENT(path)%", or "path:directory", where what is moved has the file read again, too. */
function fileContent({ live }: CompileContext): OwnOperators {
  return (name, argument, length) => {
    if (name !== 'FILE_CONTENT') return undefined;
    const [path, watchedDirectory, ...more] = argument.split(':').filter((part) => part !== '');
    if (path === undefined || more.length > 0) {
      return {
        error: `FILE_CONTENT: expected format 'path' or 'path:watch_directory', got '${argument}'`,
      };
    }
    const file: FileText = { path, ...(watchedDirectory !== undefined && { watchedDirectory }) };
    const value = readContent(path);
    if (typeof value === 'string') return { error: value };
    const isWatchable = statSync(watchedDirectory ?? path, { throwIfNoEntry: false });
    if (!isWatchable) {
      const what = `unable to add filesystem watch for file ${watchedDirectory ?? path}/`;
      return { error: `${what}: No such file or directory` };
    }
    return piece({ name: live.nameOfFile(file), value }, length);
  };
}

function piece(live_text: LiveText, max_length: number | undefined, argument = ''): Compiled {
  return { operator: Operator.LIVE_TEXT, live_text, argument, max_length };
}

/** Below these are no files with contents, as the real server has it. */
const NO_CONTENTS = /^\/(dev|proc|sys)(\/|$)/;

/** What a file holds; of a folder: nothing. A string: what is wrong. */
export function readContent(path: string): Uint8Array | string {
  try {
    if (NO_CONTENTS.test(realpathSync(path))) return `Invalid path: ${path}`;
    return statSync(path).isDirectory() ? new Uint8Array() : readFileSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? `Invalid path: ${path}`
      : `unable to read file: ${path}: ${(error as Error).message}`;
  }
}

/** "%SECRET(name)%", of those that the formatter lists. */
function secrets(config: GenericSecret, place: Place, context: CompileContext): OwnOperators {
  refuseOtherFields(place, config, SECRET);
  const known = new Map<string, LiveText>();
  const at = place.field('secret_configs');
  for (const [key, secret] of Object.entries(config.secret_configs ?? {})) {
    const unknown = `envoy.formatter.generic_secret: secret '${secret.name ?? ''}' not found in static bootstrap resources`;
    const found = compileSecret(secret, at.key(key), context, unknown, 'text');
    const { id = 0, value = '' } = found ?? {};
    known.set(key, {
      name: context.live.nameOfSecret(id || (secret.name ?? '')),
      value: Buffer.from(value),
    });
  }
  return (name, argument, length) => {
    if (name !== 'SECRET') return undefined;
    const text = known.get(argument);
    if (text) return piece(text, length, 'SECRET');
    return {
      error: `envoy.formatter.generic_secret: secret '${argument}' is not configured in secret_configs`,
    };
  };
}

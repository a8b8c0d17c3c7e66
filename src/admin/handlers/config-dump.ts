// GET /config_dump: the configuration in use, or the parts of it that are asked for.
import { createRequire } from 'node:module';
import { debugText } from '../../config/debug-text.js';
import type { PlainObject } from '../../config/objects.js';
import { printMessage } from '../../config/print.js';
import { schema as loadSchema, type MessageType, type Schema } from '../../config/schema.js';
import { compileFilter } from '../../plan/regex.js';
import { collectDumps, type Dump, type DumpItem } from '../config-dump/dumps.js';
import {
  isValidMask,
  maskTree,
  parseMask,
  trim,
  type MaskTree,
} from '../config-dump/field-mask.js';
import { redact } from '../config-dump/redact.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import type { AdminReply } from '../http.js';
import { jsonPage, LazyList, LazyObject } from '../json-page.js';

export function configDumpEndpoints(host: AdminHost): Endpoint[] {
  return [
    {
      path: '/config_dump',
      help: 'the configuration in use, without its secrets',
      mutates: false,
      parameters: [
        { name: 'resource', help: 'One list of a dump, such as static_clusters' },
        { name: 'mask', help: 'The fields to show of each dump, or of each element of the list' },
        { name: 'name_regex', help: 'A regular expression (RE2) that whole names must match' },
        { name: 'include_eds', help: 'With the hosts of the clusters', isFlag: true },
      ],
      handle: ({ parameters }) => {
        const text = (name: string): string => parameters.get(name) ?? '';
        const matches = compileNames(text('name_regex'));
        if (typeof matches === 'string') return { status: 400, type: 'plain', body: matches };
        const schema = loadSchema();
        const all = collectDumps(schema, host, parameters.has('include_eds'));
        const dumps = all.map((dump) => withNames(dump, matches));
        const paths = parseMask(text('mask'));
        return text('resource') === ''
          ? wholeDump(schema, dumps, paths)
          : listDump(schema, dumps, text('resource'), paths);
      },
    },
  ];
}

/** The real server sends this header twice with what is wrong of a resource or a mask. */
const NOSNIFF = [['x-content-type-options', 'nosniff']] as const;

const refusal = (status: number, body: string): AdminReply => ({
  status,
  type: 'plain',
  headers: NOSNIFF,
  body,
});

type NameTest = (name: string) => boolean;

/** The test, or what is wrong with the pattern. */
function compileNames(pattern: string): NameTest | string {
  if (pattern === '') return () => true;
  const checked = compileFilter(pattern);
  if ('error' in checked) {
    return `INVALID_ARGUMENT: Error while parsing name_regex from ${pattern}: ${checked.error}`;
  }
  // Loaded only for this: it takes long.
  const { RE2JS } = createRequire(import.meta.url)('re2js') as typeof import('re2js');
  const regex = RE2JS.compile(pattern);
  return (name) => regex.matches(name);
}

function withNames({ type, single, lists }: Dump, matches: NameTest): Dump {
  const kept = Object.entries(lists).map(([list, items]) => [
    list,
    items.filter(({ name }) => matches(name)),
  ]);
  return { type, single, lists: Object.fromEntries(kept) as Dump['lists'] };
}

/** All dumps that have the fields of the mask. */
function wholeDump(schema: Schema, dumps: readonly Dump[], paths: readonly string[]): AdminReply {
  const shown = dumps.filter(({ type }) => isValidMask(type, paths));
  if (shown.length === 0) {
    const mask = paths.join(',');
    return refusal(400, `FieldMask ${mask} could not be successfully applied to any configs.`);
  }
  const tree = paths.length > 0 ? maskTree(paths) : undefined;
  const configs = new LazyList(() => shown.map((dump) => dumpNode(schema, dump, tree)));
  return { type: 'json', body: jsonPage(new LazyObject(() => [['configs', configs]])) };
}

const typeUrl = (type: MessageType): string => `type.googleapis.com/${type.name}`;

function dumpNode(schema: Schema, dump: Dump, tree: MaskTree | undefined): LazyObject {
  const { type, lists } = dump;
  const single = tree ? trim(dump.single, tree) : dump.single;
  return new LazyObject(function* () {
    yield ['@type', typeUrl(type)];
    for (const field of type.fields) {
      const items = lists[field.name] ?? [];
      const isShown = !tree || tree.has(field.name);
      if (items.length > 0 && isShown && field.value.kind === 'message') {
        const of = field.value.type;
        yield [
          field.name,
          messageList(
            schema,
            of,
            items.map(({ message }) => message),
          ),
        ];
      } else if (single[field.name] !== undefined) {
        yield* fieldNodes(schema, type, { [field.name]: single[field.name] }, 2);
      }
    }
  });
}

/** The fields of a message, of which the upper levels may be long: those are printed piece by piece. */
function* fieldNodes(
  schema: Schema,
  type: MessageType,
  message: PlainObject,
  depth: number,
): Generator<readonly [string, unknown]> {
  for (const field of type.fields) {
    const value = message[field.name];
    if (value === undefined) continue;
    const of = field.value.kind === 'message' && !field.sensitive ? field.value.type : undefined;
    if (of && field.label === 'many' && Array.isArray(value) && value.length > 0) {
      yield [field.name, messageList(schema, of, value as readonly PlainObject[])];
    } else if (of && field.label === 'one' && depth > 0) {
      const inner = value as PlainObject;
      yield [field.name, new LazyObject(() => fieldNodes(schema, of, inner, depth - 1))];
    } else {
      yield* Object.entries(print(schema, type, { [field.name]: value }));
    }
  }
}

function messageList(
  schema: Schema,
  type: MessageType,
  messages: readonly PlainObject[],
): LazyList {
  return new LazyList(function* () {
    for (const message of messages) yield print(schema, type, message);
  });
}

const print = (schema: Schema, type: MessageType, message: PlainObject): PlainObject =>
  printMessage(schema, type, redact(schema, type, message));

/** The elements of one list, each with its type. */
function listDump(
  schema: Schema,
  dumps: readonly Dump[],
  resource: string,
  paths: readonly string[],
): AdminReply {
  const dump = dumps.find(({ type }) => type.field(resource)?.name === resource);
  const field = dump?.type.field(resource);
  if (!dump || !field) return refusal(404, `${resource} not found in config dump`);
  if (field.label !== 'many' || field.value.kind !== 'message') {
    const advice = `Use ?mask=${resource} to get only this field`;
    return refusal(400, `${resource} is not a repeated field. ${advice}`);
  }
  const { type } = field.value;
  const items = dump.lists[resource] ?? [];
  if (items.length === 0) return { type: 'json', body: jsonPage({}) };
  const show =
    paths.length === 0 ? (item: DumpItem) => item.message : itemMask(schema, type, paths);
  const shown = items.map(show);
  if (shown.includes(undefined)) {
    const debug = debugText(paths.map((path) => `paths: ${JSON.stringify(path)}`));
    return refusal(400, `FieldMask ${debug} could not be successfully used.`);
  }
  const configs = new LazyList(function* () {
    for (const message of shown) {
      yield { '@type': typeUrl(type), ...print(schema, type, message ?? {}) };
    }
  });
  return { type: 'json', body: jsonPage(new LazyObject(() => [['configs', configs]])) };
}

/** Applies a mask to an element, and through its Any to what that holds; undefined: it does not fit. */
function itemMask(
  schema: Schema,
  type: MessageType,
  paths: readonly string[],
): (item: DumpItem) => PlainObject | undefined {
  const isAny = (path: string): boolean => type.field(headOf(path))?.value.kind === 'any';
  const inner = paths.filter(isAny);
  const outer = paths.map((path) => (isAny(path) ? headOf(path) : path));
  const anyName = inner[0] === undefined ? undefined : headOf(inner[0]);
  const innerPaths = inner.map((path) => path.slice(headOf(path).length + 1));
  const innerTree = maskTree(innerPaths);
  const outerTree = maskTree(outer);
  return ({ message }) => {
    if (!isValidMask(type, outer)) return undefined;
    const trimmed = trim(message, outerTree);
    if (anyName === undefined) return trimmed;
    const any = message[anyName] as PlainObject;
    const anyType = schema.findMessage(String(any['$type']));
    if (!anyType || !isValidMask(anyType, innerPaths)) return undefined;
    return { ...trimmed, [anyName]: trim(any, innerTree) };
  };
}

const headOf = (path: string): string => path.split('.', 1)[0] ?? '';

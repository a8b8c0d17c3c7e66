// GET /config_dump: the configuration in use, or the parts of it that are asked for.
import { re2js } from '../../base/late-modules.js';
import { debugText } from '../../config/debug-text.js';
import type { PlainObject } from '../../config/values/objects.js';
import { TYPE_URL } from '../../config/print.js';
import { schema as loadSchema, type MessageType, type Schema } from '../../config/schema/schema.js';
import { compileFilter } from '../../plan/match/regex/regex.js';
import { runtimeLimit, type ProgramSizeLimit } from '../../plan/match/regex/program-size.js';
import { valuesOf } from '../../runtime/snapshot.js';
import { collectDumps, type Dump, type DumpItem } from '../config-dump/dumps.js';
import {
  isValidMask,
  maskTree,
  parseMask,
  trim,
  type MaskTree,
} from '../config-dump/field-mask.js';
import { LazyMessages } from '../config-dump/lazy-message.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import type { AdminReply } from '../http/http.js';
import {
  jsonPage,
  LazyList,
  LazyObject,
  PAUSE,
  type Entry,
  type Pause,
} from '../pages/json-page.js';

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
        const values = valuesOf(host.runtime.snapshot);
        const limit = runtimeLimit((key, fallback) => values.number(key, fallback));
        const matches = compileNames(text('name_regex'), limit);
        if (typeof matches === 'string') return { status: 400, type: 'plain', body: matches };
        const schema = loadSchema();
        const dumps = collectDumps(schema, host, parameters.has('include_eds'));
        const pages = new DumpPages(schema, dumps, matches);
        const paths = parseMask(text('mask'));
        const resource = text('resource');
        return resource === '' ? pages.whole(paths) : pages.list(resource, paths);
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
/** For the depth of its line. */
type Show = (item: DumpItem, depth: number) => unknown;
type ItemMask = (item: DumpItem) => PlainObject | undefined;
type Entries = Generator<Entry | Pause, void>;

/** The test, or what is wrong with the pattern. */
function compileNames(pattern: string, limit: ProgramSizeLimit): NameTest | string {
  if (pattern === '') return () => true;
  const checked = compileFilter(pattern, limit);
  if ('error' in checked) {
    return `INVALID_ARGUMENT: Error while parsing name_regex from ${pattern}: ${checked.error}`;
  }
  const regex = re2js().RE2JS.compile(pattern);
  return (name) => regex.matches(name);
}

/** The answers: what they show is made when its turn comes, so that a long one holds up nothing. */
class DumpPages {
  readonly #schema: Schema;
  readonly #dumps: readonly Dump[];
  readonly #matches: NameTest;
  readonly #messages: LazyMessages;

  constructor(schema: Schema, dumps: readonly Dump[], matches: NameTest) {
    this.#schema = schema;
    this.#dumps = dumps;
    this.#matches = matches;
    this.#messages = new LazyMessages(schema);
  }

  /** All dumps that have the fields of the mask. */
  whole(paths: readonly string[]): AdminReply {
    const shown = this.#dumps.filter(({ type }) => isValidMask(type, paths));
    if (shown.length === 0) {
      const mask = paths.join(',');
      return refusal(400, `FieldMask ${mask} could not be successfully applied to any configs.`);
    }
    const tree = paths.length > 0 ? maskTree(paths) : undefined;
    const configs = shown.map(
      (dump) => new LazyObject((depth) => this.#dumpEntries(dump, tree, depth)),
    );
    const page = new LazyObject(() => [['configs', new LazyList(() => configs)]]);
    return { type: 'json', body: jsonPage(page) };
  }

  *#dumpEntries({ type, single, lists }: Dump, tree: MaskTree | undefined, depth: number): Entries {
    const shown = tree ? trim(type, single, tree) : single;
    yield ['@type', TYPE_URL + type.name];
    for (const field of type.fields) {
      const list = lists[field.name];
      if (list && field.value.kind === 'message') {
        const of = field.value.type;
        const show: Show = ({ message }, inner) => this.#messages.message(of, message, inner);
        if (!tree || tree.has(field.name)) yield* this.#listEntry(field.name, list(), show);
      } else if (shown[field.name] !== undefined) {
        yield* this.#messages.fields(type, { [field.name]: shown[field.name] }, depth);
      }
    }
  }

  /** The elements of one list, each with its type. */
  list(resource: string, paths: readonly string[]): AdminReply {
    const dump = this.#dumps.find(({ type }) => type.field(resource)?.name === resource);
    const field = dump?.type.field(resource);
    if (!dump || !field) return refusal(404, `${resource} not found in config dump`);
    if (field.label !== 'many' || field.value.kind !== 'message') {
      const advice = `Use ?mask=${resource} to get only this field`;
      return refusal(400, `${resource} is not a repeated field. ${advice}`);
    }
    const { type } = field.value;
    const list = dump.lists[resource] ?? (() => []);
    const masked = paths.length > 0 ? itemMask(this.#schema, type, paths) : undefined;
    if (masked && !this.#fits(list(), masked)) {
      const debug = debugText(paths.map((path) => `paths: ${JSON.stringify(path)}`));
      return refusal(400, `FieldMask ${debug} could not be successfully used.`);
    }
    const show: Show = (item, depth) =>
      this.#messages.typed(type, (masked ? masked(item) : item.message) ?? {}, depth);
    const page = new LazyObject(() => this.#listEntry('configs', list(), show));
    return { type: 'json', body: jsonPage(page) };
  }

  /** Elements of a list are alike, down to the types in their Anys: the first shown stands for all. */
  #fits(items: Iterable<DumpItem>, masked: ItemMask): boolean {
    for (const item of items) {
      if (masked(item) !== undefined) return true;
      if (this.#matches(item.name) || item.always) return false;
    }
    return true;
  }

  /** The list of those whose name matches; none where there are none. */
  *#listEntry(key: string, items: Iterable<DumpItem>, show: Show): Entries {
    const wanted = this.#wanted(items);
    for (;;) {
      const { value: first, done } = wanted.next();
      if (done) return;
      if (first === PAUSE) {
        yield PAUSE;
        continue;
      }
      const rest = function* (depth: number): Generator {
        yield show(first, depth);
        for (const item of wanted) yield item === PAUSE ? PAUSE : show(item, depth);
      };
      yield [key, new LazyList(rest)];
      return;
    }
  }

  *#wanted(items: Iterable<DumpItem>): Generator<DumpItem | Pause, undefined> {
    for (const item of items) {
      const { name, always } = item;
      if (this.#matches(name)) yield item;
      else yield always ? { name, message: always } : PAUSE;
    }
  }
}

/** Applies a mask to an element, and through its Any to what that holds; undefined: it does not fit. */
function itemMask(schema: Schema, type: MessageType, paths: readonly string[]): ItemMask {
  const isAny = (path: string): boolean => type.field(headOf(path))?.value.kind === 'any';
  const inner = paths.filter(isAny);
  const outer = paths.map((path) => (isAny(path) ? headOf(path) : path));
  const anyName = inner[0] === undefined ? undefined : headOf(inner[0]);
  const innerPaths = inner.map((path) => path.slice(headOf(path).length + 1));
  const innerTree = maskTree(innerPaths);
  const outerTree = maskTree(outer);
  return ({ message }) => {
    if (!isValidMask(type, outer)) return undefined;
    const trimmed = trim(type, message, outerTree);
    if (anyName === undefined) return trimmed;
    const any = message[anyName] as PlainObject;
    const anyType = schema.findMessage(String(any['$type']));
    if (!anyType || !isValidMask(anyType, innerPaths)) return undefined;
    return { ...trimmed, [anyName]: trim(anyType, any, innerTree) };
  };
}

const headOf = (path: string): string => path.split('.', 1)[0] ?? '';

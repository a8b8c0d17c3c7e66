// The one table of command-line options. It drives the reading of arguments, their checks, --help, and
// what /server_info says of the command line; its order is that of /server_info. Options that the real
// server has and this one does not yet are listed too, so that they are refused by their name.
import { parseLevel } from '../logging/levels.js';
import { DEFAULT_PATTERN } from '../logging/pattern.js';

export type OptionValue = string | number | boolean | readonly string[] | undefined;

export type OptionGroup =
  'Configuration' | 'Process' | 'Logging' | 'Draining' | 'Node' | 'Information';

export interface OptionInfo {
  /** Without its dashes. */
  readonly name: string;
  readonly alias?: string;
  /** A number is whole and has 32 bits; a list may be given several times. */
  readonly kind: 'text' | 'number' | 'flag' | 'list';
  /** Absent: empty, 0, off, or (for `concurrency`) decided at the start. */
  readonly default?: string | number;
  /** What its value is called in --help. */
  readonly value?: string;
  readonly group: OptionGroup;
  /** Absent: not supported yet. */
  readonly help?: string;
  /** Why a value is no good; undefined when it is. */
  readonly check?: (value: string) => string | undefined;
  /** Its name in /server_info, where that is not its own with underscores; null: it is not shown. */
  readonly shownAs?: string | null;
  /** How /server_info shows its value, where that is not as it is. */
  readonly show?: (value: OptionValue) => OptionValue;
}

export const DRAIN_STRATEGIES = ['gradual', 'immediate'] as const;

const oneOf =
  (values: readonly string[], what: string) =>
  (value: string): string | undefined =>
    values.includes(value) ? undefined : `unknown ${what} '${value}'`;

const capitalised = (value: OptionValue): string => {
  const words = String(value).split('_');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
};

const seconds = (value: OptionValue): string => `${String(value)}s`;

/** A duration's JSON form: whole seconds, or with thousandths where there are any. */
export function durationText(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(3)}s`;
}

const TAG_NAME = /^[A-Za-z0-9]*$/;
const TAG_VALUE = /^[^.]+$/;

function checkTag(tag: string): string | undefined {
  const colon = tag.indexOf(':');
  if (colon < 0) return `misformatted stats-tag '${tag}'`;
  const [name, value] = [tag.slice(0, colon), tag.slice(colon + 1)];
  const bad = !TAG_NAME.test(name) ? name : TAG_VALUE.test(value) ? undefined : value;
  return bad === undefined
    ? undefined
    : `misformatted stats-tag '${tag}' contains invalid char in '${bad}'`;
}

const MODES = ['serve', 'validate', 'init_only'] as const;
const IP_VERSIONS = ['v4', 'v6'] as const;

export const OPTIONS = [
  {
    name: 'base-id',
    kind: 'number',
    value: 'id',
    group: 'Process',
    help: 'A number that tells proxies on one machine apart',
    show: String,
  },
  {
    name: 'concurrency',
    kind: 'number',
    value: 'count',
    group: 'Process',
    help: 'Worker threads; as many as hardware threads by default',
  },
  {
    name: 'config-path',
    alias: 'c',
    kind: 'text',
    value: 'file',
    group: 'Configuration',
    help: 'The bootstrap file',
  },
  {
    name: 'config-yaml',
    kind: 'text',
    value: 'yaml',
    group: 'Configuration',
    help: 'A bootstrap in YAML or JSON, merged over the file if there is one',
  },
  {
    name: 'allow-unknown-static-fields',
    kind: 'flag',
    group: 'Configuration',
    help: 'Warns of fields of the bootstrap that are not known, instead of refusing them',
  },
  {
    name: 'admin-address-path',
    kind: 'text',
    value: 'file',
    group: 'Configuration',
    help: 'A file that the address of the admin server is written to',
  },
  {
    name: 'local-address-ip-version',
    kind: 'text',
    default: 'v4',
    value: IP_VERSIONS.join('|'),
    group: 'Configuration',
    help: "The kind of address that stands for this machine, as in x-forwarded-for; 'v4' by default",
    check: oneOf(IP_VERSIONS, 'IP address version'),
  },
  {
    name: 'log-level',
    alias: 'l',
    kind: 'text',
    default: 'info',
    value: 'level',
    group: 'Logging',
    help: "trace, debug, info, warning (or warn), error, critical or off; 'info' by default",
    check: (value) =>
      parseLevel(value) === undefined ? `invalid log level specified '${value}'` : undefined,
    show: (value) => parseLevel(String(value)),
  },
  {
    name: 'component-log-level',
    kind: 'text',
    value: 'list',
    group: 'Logging',
    help: 'Levels of single components, such as upstream:debug,config:trace',
  },
  {
    name: 'log-format',
    kind: 'text',
    default: DEFAULT_PATTERN,
    value: 'pattern',
    group: 'Logging',
    help: `The form of log lines, in spdlog's syntax; '${DEFAULT_PATTERN}' by default`,
  },
  {
    name: 'log-path',
    kind: 'text',
    value: 'file',
    group: 'Logging',
    help: 'The file to log to, opened anew on SIGUSR1; standard error by default',
  },
  {
    name: 'service-cluster',
    kind: 'text',
    value: 'name',
    group: 'Node',
    help: "The cluster that this proxy belongs to, instead of the bootstrap's node.cluster",
  },
  {
    name: 'service-node',
    kind: 'text',
    value: 'name',
    group: 'Node',
    help: "The name of this proxy, instead of the bootstrap's node.id",
  },
  {
    name: 'service-zone',
    kind: 'text',
    value: 'name',
    group: 'Node',
    help: "The zone that this proxy runs in, instead of the bootstrap's node.locality.zone",
  },
  {
    name: 'file-flush-interval-msec',
    kind: 'number',
    default: 10_000,
    value: 'ms',
    group: 'Logging',
    help: 'How long lines of an access log may wait to be written; 10000 by default',
    shownAs: 'file_flush_interval',
    show: (value) => durationText(Number(value)),
  },
  {
    name: 'drain-time-s',
    kind: 'number',
    default: 600,
    value: 'seconds',
    group: 'Draining',
    help: 'How long connections may take to end when listeners are drained; 600 by default',
    shownAs: 'drain_time',
    show: seconds,
  },
  {
    name: 'parent-shutdown-time-s',
    kind: 'number',
    default: 900,
    value: 'seconds',
    group: 'Draining',
    help: 'How long a predecessor may take to end after a hot restart; 900 by default',
    shownAs: 'parent_shutdown_time',
    show: seconds,
  },
  {
    name: 'mode',
    kind: 'text',
    default: 'serve',
    value: MODES.join('|'),
    group: 'Configuration',
    help: 'serve (default), validate: check the configuration and end, init_only: start and end',
    check: oneOf(MODES, 'mode'),
    show: capitalised,
  },
  {
    name: 'disable-hot-restart',
    kind: 'flag',
    group: 'Process',
    help: 'Makes no room for a successor that takes over the listeners',
  },
  { name: 'enable-mutex-tracing', kind: 'flag', group: 'Process' },
  {
    name: 'restart-epoch',
    kind: 'number',
    value: 'number',
    group: 'Process',
    help: 'How many times this proxy was restarted while it ran: 0',
    check: (value) =>
      value === '0' ? undefined : 'hot restart is not supported yet: --restart-epoch must be 0',
  },
  {
    name: 'cpuset-threads',
    kind: 'flag',
    group: 'Process',
    help: 'Counts only the processors that this process may use for the default of --concurrency',
  },
  { name: 'reject-unknown-dynamic-fields', kind: 'flag', group: 'Configuration' },
  {
    name: 'log-format-escaped',
    kind: 'flag',
    group: 'Logging',
    help: 'Writes line breaks, quotes and bytes beyond ASCII in log lines as escape sequences',
  },
  {
    name: 'disable-extensions',
    kind: 'text',
    group: 'Configuration',
    shownAs: 'disabled_extensions',
    show: () => [],
  },
  { name: 'ignore-unknown-dynamic-fields', kind: 'flag', group: 'Configuration' },
  {
    name: 'use-dynamic-base-id',
    kind: 'flag',
    group: 'Process',
    help: 'Chooses a base id by chance; supersedes --base-id',
  },
  {
    name: 'base-id-path',
    kind: 'text',
    value: 'file',
    group: 'Process',
    help: 'A file that the base id is written to',
  },
  {
    name: 'drain-strategy',
    kind: 'text',
    default: 'gradual',
    value: 'strategy',
    group: 'Draining',
    help: 'Whether answers ask clients to leave more and more often (gradual), or all at once (immediate)',
    check: oneOf(DRAIN_STRATEGIES, 'drain-strategy'),
    show: capitalised,
  },
  { name: 'enable-fine-grain-logging', kind: 'flag', group: 'Logging' },
  { name: 'socket-path', kind: 'text', default: '@proxy_domain_socket', group: 'Process' },
  { name: 'socket-mode', kind: 'text', group: 'Process', show: () => 0 },
  { name: 'enable-core-dump', kind: 'flag', group: 'Process' },
  {
    name: 'stats-tag',
    kind: 'list',
    value: 'name:value',
    group: 'Node',
    help: 'A label for every statistic; may be given several times',
    check: checkTag,
  },
  { name: 'skip-hot-restart-on-no-parent', kind: 'flag', group: 'Process' },
  { name: 'skip-hot-restart-parent-stats', kind: 'flag', group: 'Process' },
  { name: 'skip-deprecated-logs', kind: 'flag', group: 'Logging' },
  {
    name: 'file-flush-min-size-kb',
    kind: 'number',
    group: 'Logging',
    shownAs: 'file_flush_min_size',
  },
  { name: 'log-stacktrace-single-entry', kind: 'flag', group: 'Logging' },
  {
    name: 'allow-unknown-fields',
    kind: 'flag',
    group: 'Configuration',
    help: 'The old name of --allow-unknown-static-fields',
    shownAs: null,
  },
  {
    name: 'bootstrap-version',
    kind: 'number',
    value: 'version',
    group: 'Configuration',
    help: 'The version of the API that the bootstrap is written in: 2 is upgraded, 3 refuses what is of 2 (either, if unset)',
    check: (value) =>
      value === '2' || value === '3' ? undefined : `unknown bootstrap version '${value}'`,
    shownAs: null,
  },
  {
    name: 'hot-restart-version',
    kind: 'flag',
    group: 'Information',
    help: 'Prints which versions can take over from each other, and ends',
    shownAs: null,
  },
  {
    name: 'version',
    kind: 'flag',
    group: 'Information',
    help: 'Prints the version, and ends',
    shownAs: null,
  },
  {
    name: 'help',
    alias: 'h',
    kind: 'flag',
    group: 'Information',
    help: 'Prints this text, and ends',
    shownAs: null,
  },
] as const satisfies readonly OptionInfo[];

/** The table as its readers see it. */
export const OPTION_LIST: readonly OptionInfo[] = OPTIONS;

type Known = (typeof OPTIONS)[number];
type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
type ValueOf<Option extends Known> = Option['name'] extends 'mode'
  ? (typeof MODES)[number]
  : Option['name'] extends 'local-address-ip-version'
    ? (typeof IP_VERSIONS)[number]
    : Option['name'] extends 'concurrency'
      ? number | undefined
      : { text: string; number: number; flag: boolean; list: readonly string[] }[Option['kind']];

/** What was given or is the default, by the option's name in camel case. */
export type OptionValues = {
  readonly [Option in Known as CamelCase<Option['name']>]: ValueOf<Option>;
};

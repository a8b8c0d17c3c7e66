// The one table of command-line options. It drives the reading of arguments, their checks, --help, shell
// completion and what /server_info says of the command line; its order is that of /server_info.
import { LEVELS, parseLevel } from '../logging/levels.js';
import { DEFAULT_PATTERN } from '../logging/pattern.js';
import {
  capitalised,
  checkConcurrency,
  checkTag,
  durationText,
  oneOf,
  refusal,
  seconds,
  type OptionInfo,
} from './option-info.js';

const MODES = ['serve', 'validate', 'init_only'] as const;
const IP_VERSIONS = ['v4', 'v6'] as const;
export const DRAIN_STRATEGIES = ['gradual', 'immediate'] as const;

/** Begins the names of sockets that have no file. */
export const ABSTRACT = '@';
export const DEFAULT_SOCKET_MODE = '600';

export const OPTIONS = [
  {
    name: 'base-id',
    kind: 'number',
    value: 'id',
    group: 'Hot restart',
    help: 'A number that tells apart the proxies of one machine, each with its successors. Every proxy that is not to take over from another needs its own.',
    show: String,
  },
  {
    name: 'concurrency',
    kind: 'number',
    isDecidedLater: true,
    value: 'count',
    group: 'Threads and process',
    help: 'How many worker threads serve connections; 0 is taken as 1, 1024 is the most. The default is one for each hardware thread, see also --cpuset-threads.',
    check: checkConcurrency,
  },
  {
    name: 'config-path',
    alias: 'c',
    kind: 'text',
    value: 'file',
    group: 'Configuration',
    help: 'The bootstrap file. The end of its name says what it is: .yaml or .yml, .json, .pb (binary protobuf), .pb_text (protobuf as text); any other is read as JSON.',
  },
  {
    name: 'config-yaml',
    kind: 'text',
    value: 'yaml',
    group: 'Configuration',
    help: 'A bootstrap in YAML, or in JSON. Where there is a file as well it is merged over it: single values are replaced, messages are merged field by field, lists grow.',
  },
  {
    name: 'allow-unknown-static-fields',
    kind: 'flag',
    group: 'Unknown fields',
    help: 'Fields of the bootstrap that are not known are passed over, with a warning each, and counted in server.static_unknown_fields. They are errors by default.',
  },
  {
    name: 'admin-address-path',
    kind: 'text',
    value: 'file',
    group: 'Configuration',
    help: 'A file to which the address and port of the admin server are written once it listens.',
  },
  {
    name: 'admin-allowed-host',
    kind: 'list',
    value: 'name',
    group: 'Configuration',
    help:
      'A host name by which browsers may ask the admin server, and everybody on a loopback address, ' +
      'besides addresses, names without a dot and the name of this machine; * allows any. May be ' +
      'given several times.',
    shownAs: null,
  },
  {
    name: 'local-address-ip-version',
    kind: 'text',
    default: 'v4',
    choices: IP_VERSIONS,
    group: 'Configuration',
    help: 'The kind of address that stands for this machine, as in x-forwarded-for.',
    check: oneOf(IP_VERSIONS, 'IP address version'),
  },
  {
    name: 'log-level',
    alias: 'l',
    kind: 'text',
    default: 'info',
    choices: LEVELS,
    value: 'level',
    group: 'Logging',
    help: 'The least level that is logged.',
    check: (value) =>
      parseLevel(value) === undefined
        ? refusal(`invalid log level specified '${value}'`, value, LEVELS)
        : undefined,
    show: (value) => parseLevel(String(value)),
  },
  {
    name: 'component-log-level',
    kind: 'text',
    value: 'list',
    group: 'Logging',
    help: 'Levels of single components, such as upstream:debug,config:trace. Not together with --enable-fine-grain-logging.',
  },
  {
    name: 'log-format',
    kind: 'text',
    default: DEFAULT_PATTERN,
    value: 'pattern',
    group: 'Logging',
    help: "The form of log lines, in spdlog's syntax: %v message, %l level, %n component, %t thread, %P process, %Y-%m-%d date, %T time, %e milliseconds, %g file, %# line, %j message as a JSON string, %_ message with line breaks escaped.",
  },
  {
    name: 'log-path',
    kind: 'text',
    value: 'file',
    group: 'Logging',
    help: 'The file to log to, opened anew on SIGUSR1; standard error by default.',
  },
  {
    name: 'service-cluster',
    kind: 'text',
    value: 'name',
    group: 'Identity',
    help: "The cluster that this proxy belongs to, instead of the bootstrap's node.cluster.",
  },
  {
    name: 'service-node',
    kind: 'text',
    value: 'name',
    group: 'Identity',
    help: "The name of this proxy, instead of the bootstrap's node.id.",
  },
  {
    name: 'service-zone',
    kind: 'text',
    value: 'name',
    group: 'Identity',
    help: "The zone that this proxy runs in, instead of the bootstrap's node.locality.zone.",
  },
  {
    name: 'file-flush-interval-msec',
    kind: 'number',
    default: 10_000,
    value: 'ms',
    group: 'Logging',
    help: 'How long the lines of an access log may wait before they are written, in milliseconds.',
    shownAs: 'file_flush_interval',
    show: (value) => durationText(Number(value)),
  },
  {
    name: 'drain-time-s',
    kind: 'number',
    default: 600,
    value: 'seconds',
    group: 'Draining',
    help: 'How long connections may take to end when a successor has taken over or a listener is removed. Should be less than --parent-shutdown-time-s.',
    shownAs: 'drain_time',
    show: seconds,
  },
  {
    name: 'parent-shutdown-time-s',
    kind: 'number',
    default: 900,
    value: 'seconds',
    group: 'Hot restart',
    help: 'How long after a successor has taken over its predecessor is made to end.',
    shownAs: 'parent_shutdown_time',
    show: seconds,
  },
  {
    name: 'mode',
    kind: 'text',
    default: 'serve',
    choices: MODES,
    group: 'Configuration',
    help: 'serve: check the configuration and serve. validate: check it, say so and end, without touching the network or any file. init_only: start and end at once.',
    check: oneOf(MODES, 'mode'),
    show: capitalised,
  },
  {
    name: 'disable-hot-restart',
    kind: 'flag',
    group: 'Hot restart',
    help: 'Makes no room for a successor that takes over listeners and statistics.',
  },
  {
    name: 'enable-mutex-tracing',
    kind: 'flag',
    group: 'Statistics',
    help: 'Counts how often a thread had to wait for a lock and for how long, shown by GET /contention.',
  },
  {
    name: 'restart-epoch',
    kind: 'number',
    value: 'number',
    group: 'Hot restart',
    help: 'How many times this proxy has been restarted while it ran: 0 for the first, one more for each successor.',
  },
  {
    name: 'cpuset-threads',
    kind: 'flag',
    group: 'Threads and process',
    help: 'The default of --concurrency is the number of processors that this process may run on, not of all.',
  },
  {
    name: 'reject-unknown-dynamic-fields',
    kind: 'flag',
    group: 'Unknown fields',
    help: 'Configuration that is delivered while the proxy runs is refused if it has fields that are not known. They are warned of and counted in server.dynamic_unknown_fields by default.',
  },
  {
    name: 'log-format-escaped',
    kind: 'flag',
    group: 'Logging',
    help: 'Writes line breaks, quotes and bytes beyond ASCII in log lines as escape sequences.',
  },
  {
    name: 'disable-extensions',
    kind: 'text',
    value: 'list',
    group: 'Configuration',
    help: 'Extensions that no configuration may use, as category/name with commas between them, such as envoy.filters.network/envoy.filters.network.echo.',
    shownAs: 'disabled_extensions',
    show: (value) => splitList(String(value)),
  },
  {
    name: 'ignore-unknown-dynamic-fields',
    kind: 'flag',
    group: 'Unknown fields',
    help: 'Passes over such fields without a word. Without effect together with --reject-unknown-dynamic-fields.',
  },
  {
    name: 'use-dynamic-base-id',
    kind: 'flag',
    group: 'Hot restart',
    help: 'Chooses a base id that no other proxy has, instead of --base-id. Only for the first epoch: its successors take --base-id with what --base-id-path says.',
  },
  {
    name: 'base-id-path',
    kind: 'text',
    value: 'file',
    group: 'Hot restart',
    help: 'A file to which the base id is written.',
  },
  {
    name: 'drain-strategy',
    kind: 'text',
    default: 'gradual',
    choices: DRAIN_STRATEGIES,
    group: 'Draining',
    help: 'gradual: the share of answers that end their connection grows to all of them over the drain time. immediate: all of them do so at once.',
    check: oneOf(DRAIN_STRATEGIES, 'drain-strategy'),
    show: capitalised,
  },
  {
    name: 'enable-fine-grain-logging',
    kind: 'flag',
    group: 'Logging',
    help: 'Every source file is a logger of its own, whose level POST /logging changes.',
  },
  {
    name: 'socket-path',
    kind: 'text',
    default: '@proxy_domain_socket',
    value: 'file',
    group: 'Hot restart',
    help: 'What the sockets between a proxy and its successors are called, before _{role}_{id}: the path of a file, or an abstract name after "@". It has to be the same for all of them.',
    check: (path) => (path === '' ? `invalid socket-path ''; expected a path or @name` : undefined),
  },
  {
    name: 'socket-mode',
    kind: 'text',
    isDecidedLater: true,
    value: 'mode',
    group: 'Hot restart',
    help: `The permission of those sockets in octal; only where --socket-path is the path of a file. The default is ${DEFAULT_SOCKET_MODE}.`,
  },
  {
    name: 'enable-core-dump',
    kind: 'flag',
    group: 'Threads and process',
    help: 'Lets the system write a core dump if the proxy crashes.',
    // The real server never says that it is on; what reads /server_info is used to that.
    show: () => false,
  },
  {
    name: 'stats-tag',
    kind: 'list',
    value: 'name:value',
    group: 'Statistics',
    help: 'A label for every statistic, as name:value; may be given several times.',
    check: checkTag,
  },
  {
    name: 'skip-hot-restart-on-no-parent',
    kind: 'flag',
    group: 'Hot restart',
    help: 'A successor that finds no predecessor starts nevertheless, and keeps its epoch.',
  },
  {
    name: 'skip-hot-restart-parent-stats',
    kind: 'flag',
    group: 'Hot restart',
    help: "A successor does not take over its predecessor's statistics.",
  },
  {
    name: 'skip-deprecated-logs',
    kind: 'flag',
    group: 'Logging',
    help: 'Does not warn of fields of the configuration that are deprecated.',
  },
  {
    name: 'file-flush-min-size-kb',
    kind: 'number',
    isDecidedLater: true,
    value: 'kb',
    group: 'Logging',
    help: 'How much of an access log a thread may hold before it is written, in KB; 0 writes each line at once. The default is 64.',
    shownAs: 'file_flush_min_size',
    // As above.
    show: () => 0,
  },
  {
    name: 'log-stacktrace-single-entry',
    kind: 'flag',
    group: 'Logging',
    help: 'Logs the stack of a crash as one entry instead of one for each frame.',
  },
  {
    name: 'allow-unknown-fields',
    kind: 'flag',
    group: 'Unknown fields',
    help: 'The former name of --allow-unknown-static-fields.',
    shownAs: null,
  },
  {
    name: 'bootstrap-version',
    kind: 'number',
    value: 'version',
    choices: ['2', '3'],
    group: 'Configuration',
    help: 'The version of the API that the bootstrap is written in. 2 is upgraded, 3 refuses what is of 2; either by default.',
    check: oneOf(['2', '3'], 'bootstrap version'),
    shownAs: null,
  },
  {
    name: 'use-fake-symbol-table',
    kind: 'number',
    value: 'number',
    choices: ['0', '1'],
    group: 'Statistics',
    help: 'With 1 names of statistics are not looked up in a way that /stats/recentlookups could follow.',
    check: oneOf(['0', '1'], 'use-fake-symbol-table'),
    shownAs: null,
  },
  {
    name: 'hot-restart-version',
    kind: 'flag',
    group: 'Information',
    help: 'Prints, on standard error, which versions can take over from each other, and ends.',
    shownAs: null,
  },
  {
    name: 'version',
    kind: 'flag',
    group: 'Information',
    help: 'Prints revision, version, state of the sources, kind of build and TLS library, and ends.',
    shownAs: null,
  },
  {
    name: 'help',
    alias: 'h',
    kind: 'flag',
    group: 'Information',
    help: 'Prints this text, and ends.',
    shownAs: null,
  },
] as const satisfies readonly OptionInfo[];

/** The table as its readers see it. */
export const OPTION_LIST: readonly OptionInfo[] = OPTIONS;

/** What stands between commas, empty entries too. */
export function splitList(text: string): readonly string[] {
  return text === '' ? [] : text.split(',');
}

type Known = (typeof OPTIONS)[number];
type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
type Plain<Option extends Known> = {
  text: string;
  number: number;
  flag: boolean;
  list: readonly string[];
}[Option['kind']];
type ValueOf<Option extends Known> = Option extends {
  readonly kind: 'text';
  readonly choices: readonly (infer Choice)[];
  readonly check: unknown;
  readonly name: 'mode' | 'local-address-ip-version' | 'drain-strategy';
}
  ? Choice
  : Option extends { readonly isDecidedLater: true }
    ? Plain<Option> | undefined
    : Plain<Option>;

/** What was given or is the default, by the option's name in camel case. */
export type OptionValues = {
  readonly [Option in Known as CamelCase<Option['name']>]: ValueOf<Option>;
};

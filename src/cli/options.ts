// The one table of command-line options: it drives parsing, --help, the checks, and what /server_info
// says of the command line.
import { parseLevel } from '../logging/levels.js';
import { DEFAULT_PATTERN } from '../logging/pattern.js';

export type OptionValue = string | number | boolean | readonly string[] | undefined;

export interface OptionInfo {
  /** Without its dashes. */
  readonly name: string;
  readonly alias?: string;
  readonly type: 'string' | 'number' | 'boolean' | 'list';
  readonly default?: OptionValue;
  /** A name for its value in --help. */
  readonly value?: string;
  readonly group: 'Configuration' | 'Process' | 'Logging' | 'Draining' | 'Node' | 'Information';
  readonly help: string;
  /** Why a value is no good; undefined when it is. */
  check?(value: OptionValue): string | undefined;
}

const MODES = ['serve', 'validate', 'init_only'];
const wholeNumber = (name: string, least: number) => (value: OptionValue): string | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= least
    ? undefined
    : `--${name} must be a whole number, ${least} or more; it is '${String(value)}'`;

export const OPTIONS: readonly OptionInfo[] = [
  { name: 'config-path', alias: 'c', type: 'string', value: 'file', group: 'Configuration', help: 'The bootstrap: .yaml, .yml or .json' },
  { name: 'config-yaml', type: 'string', value: 'yaml', group: 'Configuration', help: 'Bootstrap YAML that is merged over the file' },
  {
    name: 'mode', type: 'string', default: 'serve', value: 'mode', group: 'Configuration',
    help: `What to do: serve (default), validate (check the configuration and exit) or init_only (start, then exit)`,
    check: (value) => (MODES.includes(String(value)) ? undefined : `unknown mode '${String(value)}'`),
  },
  { name: 'admin-address-path', type: 'string', value: 'file', group: 'Configuration', help: 'Where the address of the admin server is written' },
  {
    name: 'local-address-ip-version', type: 'string', default: 'v4', value: 'version', group: 'Configuration',
    help: 'The IP version (v4 or v6) of the address that stands for clients on loopback',
    check: (value) => (value === 'v4' || value === 'v6' ? undefined : `unknown IP address version '${String(value)}'`),
  },
  { name: 'concurrency', type: 'number', value: 'workers', group: 'Process', help: 'Worker threads; as many as processors by default', check: wholeNumber('concurrency', 0) },
  { name: 'base-id', type: 'number', default: 0, value: 'id', group: 'Process', help: 'Keeps hot restarts of several proxies on one machine apart', check: wholeNumber('base-id', 0) },
  { name: 'use-dynamic-base-id', type: 'boolean', default: false, group: 'Process', help: 'Chooses an unused base id' },
  { name: 'disable-hot-restart', type: 'boolean', default: false, group: 'Process', help: 'Starts without a place for a successor' },
  { name: 'log-level', alias: 'l', type: 'string', default: 'info', value: 'level', group: 'Logging',
    help: 'trace, debug, info (default), warning, error, critical or off',
    check: (value) => (parseLevel(String(value)) ? undefined : `invalid log level specified '${String(value)}'`) },
  { name: 'component-log-level', type: 'string', default: '', value: 'list', group: 'Logging', help: 'Levels of single components: upstream:debug,config:trace' },
  { name: 'log-format', type: 'string', default: DEFAULT_PATTERN, value: 'pattern', group: 'Logging', help: 'The pattern of log lines, in spdlog\'s language' },
  { name: 'log-path', type: 'string', default: '', value: 'file', group: 'Logging', help: 'The log\'s file; stderr by default' },
  { name: 'file-flush-interval-msec', type: 'number', default: 10_000, value: 'ms', group: 'Logging', help: 'How long an access log line may wait to be written', check: wholeNumber('file-flush-interval-msec', 1) },
  { name: 'drain-time-s', type: 'number', default: 600, value: 'seconds', group: 'Draining', help: 'How long draining takes', check: wholeNumber('drain-time-s', 0) },
  { name: 'parent-shutdown-time-s', type: 'number', default: 900, value: 'seconds', group: 'Draining', help: 'When a predecessor ends', check: wholeNumber('parent-shutdown-time-s', 0) },
  { name: 'service-cluster', type: 'string', default: '', value: 'name', group: 'Node', help: 'The cluster that this proxy serves' },
  { name: 'service-node', type: 'string', default: '', value: 'name', group: 'Node', help: 'This proxy\'s name' },
  { name: 'service-zone', type: 'string', default: '', value: 'name', group: 'Node', help: 'The zone that this proxy runs in' },
  { name: 'stats-tag', type: 'list', default: [], value: 'name:value', group: 'Node', help: 'A label for every statistic; may be given several times' },
  { name: 'version', type: 'boolean', default: false, group: 'Information', help: 'Prints the version' },
  { name: 'help', alias: 'h', type: 'boolean', default: false, group: 'Information', help: 'Prints this text' },
];

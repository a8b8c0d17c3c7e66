// What the table of options says of each one, and the checks and forms that several share.
import { nearestName } from '../base/suggest.js';

export type OptionValue = string | number | boolean | readonly string[] | undefined;

/** What options are for; --help shows the groups in this order. */
export const GROUPS = [
  'Configuration',
  'Unknown fields',
  'Identity',
  'Threads and process',
  'Logging',
  'Statistics',
  'Draining',
  'Hot restart',
  'Information',
] as const;

export interface OptionInfo {
  /** Without its dashes. */
  readonly name: string;
  readonly alias?: string;
  /** A number is whole and has 32 bits; a list may be given several times. */
  readonly kind: 'text' | 'number' | 'flag' | 'list';
  /** Absent: empty, 0 or off; or, where `isDecidedLater`, nothing. */
  readonly default?: string | number;
  /** Its absence means something that no value does. */
  readonly isDecidedLater?: true;
  /** What its value is called in --help: `file` is completed with names of files. */
  readonly value?: string;
  /** All values that it takes, where they can be listed. */
  readonly choices?: readonly string[];
  readonly group: (typeof GROUPS)[number];
  /** Sentences, of which --help makes a paragraph. */
  readonly help: string;
  /** Why a value is no good; undefined when it is. */
  readonly check?: (value: string) => string | undefined;
  /** Its name in /server_info, where that is not its own with underscores; null: it is not shown. */
  readonly shownAs?: string | null;
  /** How /server_info shows its value, where that is not as it is. */
  readonly show?: (value: OptionValue) => OptionValue;
}

export const oneOf =
  (values: readonly string[], what: string) =>
  (value: string): string | undefined =>
    values.includes(value) ? undefined : refusal(`unknown ${what} '${value}'`, value, values);

/** What is wrong, and which value is near or which ones there are. */
export function refusal(message: string, value: string, values: readonly string[]): string {
  const near = nearestName(value, values);
  return near === undefined
    ? `${message}; expected one of ${values.join(', ')}`
    : `${message}; did you mean '${near}'?`;
}

/** The name of an enumeration's value as JSON has it: InitOnly. */
export const capitalised = (value: OptionValue): string => {
  const words = String(value).split('_');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
};

export const seconds = (value: OptionValue): string => `${String(value)}s`;

/** A duration's JSON form: whole seconds, or with thousandths where there are any. */
export function durationText(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(3)}s`;
}

const TAG_NAME = /^[A-Za-z0-9]*$/;
const TAG_VALUE = /^[^.]+$/;

export function checkTag(tag: string): string | undefined {
  const colon = tag.indexOf(':');
  if (colon < 0) return `misformatted stats-tag '${tag}'; expected name:value`;
  const [name, value] = [tag.slice(0, colon), tag.slice(colon + 1)];
  const bad = !TAG_NAME.test(name) ? name : TAG_VALUE.test(value) ? undefined : value;
  return bad === undefined
    ? undefined
    : `misformatted stats-tag '${tag}' contains invalid char in '${bad}'`;
}

/** More threads than this are a slip of the keyboard, and would take the machine down. */
const MOST_WORKERS = 1024;

export function checkConcurrency(count: string): string | undefined {
  return Number(count) <= MOST_WORKERS
    ? undefined
    : `invalid concurrency '${count}'; expected at most ${MOST_WORKERS} worker threads`;
}

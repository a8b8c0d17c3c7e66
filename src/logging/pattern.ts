// Log patterns in spdlog's language ("[%Y-%m-%d %T.%e][%t][%l][%n] %v"), compiled to a list of functions.
import type { Level } from './levels.js';

export interface LogRecord {
  /** Milliseconds since 1970, with their fraction. */
  readonly timeMs: number;
  readonly level: Level;
  readonly logger: string;
  /** Where the line comes from, relative to the package; empty where it is not known. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface Pattern {
  /** A line, without its end. */
  format(record: LogRecord): string;
}

export const DEFAULT_PATTERN = '[%Y-%m-%d %T.%e][%t][%l][%n] [%g:%#] %v';

type Part = (record: LogRecord, time: Date) => string;

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const LETTERS: Readonly<Record<Level, string>> = {
  trace: 'T',
  debug: 'D',
  info: 'I',
  warning: 'W',
  error: 'E',
  critical: 'C',
  off: 'O',
};

const two = (value: number): string => String(value).padStart(2, '0');
const hour12 = (time: Date): string => two(time.getHours() % 12 || 12);
const noon = (time: Date): string => (time.getHours() >= 12 ? 'PM' : 'AM');
const dayName = (time: Date): string => DAYS[time.getDay()] ?? '';
const monthName = (time: Date): string => MONTHS[time.getMonth()] ?? '';
const hourMinute = (time: Date): string => `${two(time.getHours())}:${two(time.getMinutes())}`;
const clock = (time: Date): string => `${hourMinute(time)}:${two(time.getSeconds())}`;
const year2 = (time: Date): string => two(time.getFullYear() % 100);
const shortDate = (time: Date): string =>
  `${two(time.getMonth() + 1)}/${two(time.getDate())}/${year2(time)}`;
const baseName = (file: string): string => file.slice(file.lastIndexOf('/') + 1);

/** The part of a second, in so many digits. */
function fraction(timeMs: number, digits: number): string {
  const ofSecond = ((timeMs % 1000) + 1000) % 1000;
  return String(Math.floor(ofSecond * 10 ** (digits - 3))).padStart(digits, '0');
}

function offset(time: Date): string {
  const minutes = -time.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const FLAGS: Readonly<Record<string, Part>> = {
  v: (record) => record.message,
  _: (record) => record.message.replaceAll('\n', '\\n'),
  j: (record) => JSON.stringify(record.message).slice(1, -1),
  // All lines are written by the main thread, whose id is the process's.
  t: () => String(process.pid),
  P: () => String(process.pid),
  n: (record) => record.logger,
  l: (record) => record.level,
  L: (record) => LETTERS[record.level],
  a: (_, time) => dayName(time).slice(0, 3),
  A: (_, time) => dayName(time),
  b: (_, time) => monthName(time).slice(0, 3),
  B: (_, time) => monthName(time),
  c: (_, time) =>
    `${dayName(time).slice(0, 3)} ${monthName(time).slice(0, 3)} ${time.getDate()} ${clock(time)} ${time.getFullYear()}`,
  C: (_, time) => year2(time),
  Y: (_, time) => String(time.getFullYear()),
  D: (_, time) => shortDate(time),
  x: (_, time) => shortDate(time),
  m: (_, time) => two(time.getMonth() + 1),
  d: (_, time) => two(time.getDate()),
  H: (_, time) => two(time.getHours()),
  I: (_, time) => hour12(time),
  M: (_, time) => two(time.getMinutes()),
  S: (_, time) => two(time.getSeconds()),
  e: (record) => fraction(record.timeMs, 3),
  f: (record) => fraction(record.timeMs, 6),
  F: (record) => fraction(record.timeMs, 9),
  E: (record) => String(Math.floor(record.timeMs / 1000)),
  p: (_, time) => noon(time),
  r: (_, time) =>
    `${hour12(time)}:${two(time.getMinutes())}:${two(time.getSeconds())} ${noon(time)}`,
  R: (_, time) => hourMinute(time),
  T: (_, time) => clock(time),
  X: (_, time) => clock(time),
  z: (_, time) => offset(time),
  g: (record) => record.file,
  s: (record) => baseName(record.file),
  '#': (record) => String(record.line),
  '@': (record) => `${record.file}:${record.line}`,
  // The function's name is not known.
  '!': () => '',
  '%': () => '%',
  // The borders of what a terminal would show in colour.
  '^': () => '',
  $: () => '',
};

// A flag with its alignment, width and cut; text; or a percent sign at the very end, which is dropped.
const TOKEN = /%([-=]?)(?:(\d+)(!?))?(.)|[^%]+|%$/gsu;
const WIDEST = 64;

/** A flag that means nothing stays as it is written. */
export function compilePattern(pattern: string): Pattern {
  const parts: Part[] = [];
  for (const [text, align = '', width, cut, flag] of pattern.matchAll(TOKEN)) {
    if (flag === undefined) {
      if (text !== '%') parts.push(() => text);
      continue;
    }
    const part = FLAGS[flag] ?? (() => `%${flag}`);
    if (width === undefined) parts.push(part);
    else parts.push(sized(part, Math.min(Number(width), WIDEST), align, cut === '!'));
  }
  return {
    format: (record) => {
      const time = new Date(record.timeMs);
      let line = '';
      for (const part of parts) line += part(record, time);
      return line;
    },
  };
}

function sized(part: Part, width: number, align: string, cut: boolean): Part {
  return (record, time) => {
    const whole = part(record, time);
    const text = cut ? whole.slice(0, width) : whole;
    if (align === '-') return text.padEnd(width);
    if (align === '') return text.padStart(width);
    const before = Math.max(0, Math.floor((width - text.length) / 2));
    return (' '.repeat(before) + text).padEnd(width);
  };
}

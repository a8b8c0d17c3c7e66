// spdlog's log patterns ("[%Y-%m-%d %T.%e][%t][%l][%n] %v") compiled to a list of functions.
import type { Level } from './levels.js';

export interface LogRecord {
  readonly time: Date;
  readonly level: Level;
  readonly logger: string;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export const DEFAULT_PATTERN = '[%Y-%m-%d %T.%e][%t][%l][%n] [%g:%#] %v';

type Part = (record: LogRecord) => string;

const two = (value: number): string => String(value).padStart(2, '0');
const three = (value: number): string => String(value).padStart(3, '0');
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const LETTERS: Record<Level, string> = { trace: 'T', debug: 'D', info: 'I', warning: 'W', error: 'E', critical: 'C', off: 'O' };
const hour12 = (time: Date): number => time.getHours() % 12 || 12;
const clock = (time: Date): string => `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;

const FLAGS: Readonly<Record<string, Part>> = {
  v: (r) => r.message,
  _: (r) => r.message.replaceAll('\n', '\\n'),
  j: (r) => JSON.stringify(r.message).slice(1, -1),
  t: () => String(process.pid),
  P: () => String(process.pid),
  n: (r) => r.logger,
  l: (r) => r.level,
  L: (r) => LETTERS[r.level],
  a: (r) => DAYS[r.time.getDay()]!.slice(0, 3),
  A: (r) => DAYS[r.time.getDay()]!,
  b: (r) => MONTHS[r.time.getMonth()]!.slice(0, 3),
  B: (r) => MONTHS[r.time.getMonth()]!,
  c: (r) => `${FLAGS.a!(r)} ${FLAGS.b!(r)} ${r.time.getDate()} ${clock(r.time)} ${r.time.getFullYear()}`,
  C: (r) => two(r.time.getFullYear() % 100),
  Y: (r) => String(r.time.getFullYear()),
  D: (r) => `${FLAGS.m!(r)}/${FLAGS.d!(r)}/${FLAGS.C!(r)}`,
  x: (r) => FLAGS.D!(r),
  m: (r) => two(r.time.getMonth() + 1),
  d: (r) => two(r.time.getDate()),
  H: (r) => two(r.time.getHours()),
  I: (r) => two(hour12(r.time)),
  M: (r) => two(r.time.getMinutes()),
  S: (r) => two(r.time.getSeconds()),
  e: (r) => three(r.time.getMilliseconds()),
  f: (r) => `${three(r.time.getMilliseconds())}000`,
  F: (r) => `${three(r.time.getMilliseconds())}000000`,
  E: (r) => String(Math.floor(r.time.getTime() / 1000)),
  p: (r) => (r.time.getHours() >= 12 ? 'PM' : 'AM'),
  r: (r) => `${two(hour12(r.time))}:${two(r.time.getMinutes())}:${two(r.time.getSeconds())} ${FLAGS.p!(r)}`,
  R: (r) => `${two(r.time.getHours())}:${two(r.time.getMinutes())}`,
  T: (r) => clock(r.time),
  X: (r) => clock(r.time),
  z: (r) => {
    const offset = -r.time.getTimezoneOffset();
    return `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  },
  g: (r) => r.file,
  s: (r) => r.file.slice(r.file.lastIndexOf('/') + 1),
  '#': (r) => String(r.line),
  '@': (r) => `${r.file}:${r.line}`,
  '!': () => '',
  '%': () => '%',
  // Colour ranges: nothing to do without colours.
  '^': () => '',
  $: () => '',
};

/** A function that makes a line (without its end) of a record. Unknown flags stay as they are. */
export function compilePattern(pattern: string): (record: LogRecord) => string {
  const parts: Part[] = [];
  const matcher = /%([-=]?)(\d*)(!?)(.)|[^%]+|%/gs;
  for (const [text, align, width, cut, flag] of pattern.matchAll(matcher)) {
    const part = flag === undefined ? undefined : FLAGS[flag];
    if (!part) {
      parts.push(() => text);
      continue;
    }
    const size = Number(width);
    parts.push(size === 0 ? part : (record) => padded(part(record), size, align ?? '', cut === '!'));
  }
  return (record) => parts.map((part) => part(record)).join('');
}

function padded(text: string, size: number, align: string, cut: boolean): string {
  const kept = cut ? text.slice(0, size) : text;
  if (align === '-') return kept.padEnd(size);
  if (align === '=') return kept.padStart(Math.floor((size + kept.length) / 2)).padEnd(size);
  return kept.padStart(size);
}

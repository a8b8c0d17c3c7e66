// Durations and timestamps of proto3 JSON.

const DURATION = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const LONGEST_SECONDS = 315_576_000_000;

export const DURATION_FORM = 'a duration in seconds, such as "1.5s"';
export const TIMESTAMP_FORM = 'a time such as "2026-01-31T12:00:00Z"';

/** What the server can count with: 2^63 nanoseconds, in ms. */
export const LONGEST_DURATION_MS = 9_223_372_036_000;

/** Milliseconds of `"1.5s"`, or undefined. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  const seconds = Number(whole);
  if (seconds > LONGEST_SECONDS) return undefined;
  const ms = fromParts(seconds, Number(fraction.padEnd(9, '0')));
  return sign === '-' ? 0 - ms : ms;
}

/** Whether the two fields of a google.protobuf.Duration make one. */
export function areParts(seconds: number, nanos: number): boolean {
  if (Math.abs(seconds) > LONGEST_SECONDS || Math.abs(nanos) >= 1e9) return false;
  return seconds === 0 || nanos === 0 || seconds > 0 === nanos > 0;
}

/** Milliseconds of the two fields of a google.protobuf.Duration. */
export function fromParts(seconds: number, nanos: number): number {
  // One division, so that 0.1 s is exactly 100 ms.
  return (seconds * 1e9 + nanos) / 1e6;
}

/** Seconds and nanoseconds, both of the sign of the duration. */
export function toParts(ms: number): { readonly seconds: number; readonly nanos: number } {
  const seconds = Math.trunc(ms / 1000);
  const nanos = Math.round((ms - seconds * 1000) * 1e6);
  const carry = Math.trunc(nanos / 1e9);
  return { seconds: seconds + carry, nanos: nanos - carry * 1e9 };
}

/** As protobuf prints it: with 0, 3, 6 or 9 digits after the point. */
export function printDuration(ms: number): string {
  const { seconds, nanos } = toParts(ms);
  const sign = ms < 0 ? '-' : '';
  const digits = String(Math.abs(nanos)).padStart(9, '0');
  const fraction = nanos === 0 ? '' : `.${digits.replace(/(?:000){1,2}$/, '')}`;
  return `${sign}${Math.abs(seconds)}${fraction}s`;
}

/** The same text where it is a time, else undefined. */
export function parseTimestamp(text: string): string | undefined {
  return TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

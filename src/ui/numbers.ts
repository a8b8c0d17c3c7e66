// Numbers as people read them.

const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const UNKNOWN = '–';

/** "12.3K"; a dash for what is not known. */
export function short(value: number | undefined): string {
  return value === undefined ? UNKNOWN : SHORT.format(value);
}

export const whole = (value: number): string => WHOLE.format(value);

/** "1 host", "2 hosts". */
export const count = (number: number, noun: string): string =>
  `${whole(number)} ${noun}${number === 1 ? '' : 's'}`;

/** From 0 to 1; of nothing it is 0. */
export function share(part: number | undefined, all: number | undefined): number | undefined {
  if (part === undefined || all === undefined) return undefined;
  return all > 0 ? Math.min(1, part / all) : 0;
}

/** Of a share from 0 to 1: "0.25 %". */
export function percent(share: number | undefined): string {
  if (share === undefined) return UNKNOWN;
  return `${(share * 100).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`;
}

/** "< 1 ms" (histograms have whole ones), "3.4 ms", "1.20 s". */
export function milliseconds(value: number | undefined): string {
  if (value === undefined) return UNKNOWN;
  if (value < 1) return '< 1 ms';
  return value < 1000
    ? `${value.toFixed(value < 10 ? 1 : 0)} ms`
    : `${(value / 1000).toFixed(2)} s`;
}

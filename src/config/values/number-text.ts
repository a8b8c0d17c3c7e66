// Numbers as C prints them with %g: so many significant digits, none of them a zero at the end, and an
// exponent where that is shorter.

export function numberText(value: number, digits: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponentText = '0'] = value.toExponential(digits - 1).split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < digits) {
    return withoutZeros(value.toFixed(digits - 1 - exponent));
  }
  const sign = exponent < 0 ? '-' : '+';
  return `${withoutZeros(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** As many digits as it takes to read the same number again, of those that protobuf tries. */
export function exactNumberText(value: number): string {
  const text = numberText(value, 15);
  return Number(text) === value ? text : numberText(value, 17);
}

function nonFinite(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}

const withoutZeros = (text: string): string =>
  text.includes('.') ? text.replace(/\.?0+$/, '') : text;

/** A text as what sends lines of HTTP takes it: each character is a byte of its UTF-8. */
export function octetsOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

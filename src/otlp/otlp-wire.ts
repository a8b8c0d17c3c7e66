// What requests of OpenTelemetry have in common: attributes, and who sends them.
import type { WireWriter } from '../base/wire.js';

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;
export const tag = (field: number, type: number): number => (field << 3) | type;

/** KeyValue of a text. */
export function writeText(out: WireWriter, field: number, name: string, value: string): void {
  writeAttribute(out, field, name, (to) => to.text(tag(1, BYTES), value));
}

/** KeyValue; `write`: its AnyValue. */
export function writeAttribute(
  out: WireWriter,
  field: number,
  name: string,
  write: (out: WireWriter) => void,
): void {
  out.message(tag(field, BYTES), name, (to) => {
    to.text(tag(1, BYTES), name);
    to.message(tag(2, BYTES), name, write);
  });
}

/** The first field of ResourceSpans and of ResourceMetrics. */
export function writeResource(out: WireWriter, attributes: Readonly<Record<string, string>>): void {
  const all = Object.entries(attributes);
  if (all.length === 0) return;
  out.message(tag(1, BYTES), all, (to) => {
    for (const [name, value] of all) writeText(to, 1, name, value);
  });
}

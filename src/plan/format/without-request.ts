// What operators of formats tell where there is no request, as in headers of the proxy's own calls.
import { FormatPiece_Operator as Operator, type Format, type FormatPiece } from '../plan.gen.js';
import type { FormatError } from './format.js';

const ABSENT = '-';

/** What is counted, of nothing. */
const ZERO: ReadonlySet<Operator> = new Set<Operator>([
  Operator.ZERO,
  Operator.RESPONSE_CODE,
  Operator.BYTES_RECEIVED,
  Operator.BYTES_SENT,
  Operator.UPSTREAM_REQUEST_ATTEMPT_COUNT,
  Operator.CONNECTION_ID,
  Operator.UPSTREAM_CONNECTION_ID,
  Operator.UPSTREAM_WIRE_BYTES_SENT,
  Operator.UPSTREAM_WIRE_BYTES_RECEIVED,
  Operator.UPSTREAM_HEADER_BYTES_SENT,
  Operator.UPSTREAM_HEADER_BYTES_RECEIVED,
  Operator.UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT,
  Operator.UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED,
  Operator.DOWNSTREAM_WIRE_BYTES_SENT,
  Operator.DOWNSTREAM_WIRE_BYTES_RECEIVED,
  Operator.DOWNSTREAM_HEADER_BYTES_SENT,
  Operator.DOWNSTREAM_HEADER_BYTES_RECEIVED,
  Operator.DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT,
  Operator.DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED,
  Operator.REQUEST_HEADERS_BYTES,
  Operator.RESPONSE_HEADERS_BYTES,
  Operator.RESPONSE_TRAILERS_BYTES,
  Operator.ROUTE_RESOLUTION_COUNT,
]);

const CONSTANT: ReadonlyMap<Operator, string> = new Map<Operator, string>([
  [Operator.LOCAL_REPLY_BODY, ''],
  [Operator.DOWNSTREAM_DETECTED_CLOSE_TYPE, 'Normal'],
  [Operator.ACCESS_LOG_TYPE, 'NotSet'],
]);

/** What is another thing each time. */
const VARIED: ReadonlyMap<Operator, string> = new Map<Operator, string>(
  (['START_TIME', 'EMIT_TIME', 'DURATION', 'COMMON_DURATION', 'UNIQUE_ID'] as const).map((name) => [
    Operator[name],
    name,
  ]),
);

export type ConstantText = { readonly text: string } | FormatError;

/** What a format without a request tells, each time the same; or why that is not so. */
export function textWithoutRequest({ pieces = [] }: Format): ConstantText {
  let text = '';
  for (const piece of pieces) {
    const varied = variedIn(piece);
    if (varied !== undefined) return { error: `%${varied}% is not supported without a request` };
    text += valueOf(piece) ?? ABSENT;
  }
  return { text };
}

function variedIn({
  operator = Operator.LITERAL,
  alternatives = [],
}: FormatPiece): string | undefined {
  if (operator !== Operator.COALESCE) return VARIED.get(operator);
  return alternatives.map(variedIn).find((name) => name !== undefined);
}

/** Undefined: it has none. */
function valueOf(piece: FormatPiece): string | undefined {
  const { operator = Operator.LITERAL, argument = '', alternatives = [] } = piece;
  if (operator === Operator.LITERAL) return argument;
  if (operator === Operator.COALESCE) {
    const value = alternatives.map(valueOf).find((each) => each !== undefined);
    return value?.slice(0, piece.max_length);
  }
  return ZERO.has(operator) ? '0' : CONSTANT.get(operator);
}

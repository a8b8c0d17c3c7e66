// Frames of HTTP/2 (RFC 9113, 4 and 6), written and read by hand: as whoever gets them wrong on purpose needs them.

const HEADER_BYTES = 9;
const END_STREAM = 1;
const END_HEADERS = 4;

export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7 } as const;

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  payload.copy(bytes, HEADER_BYTES);
  return bytes;
}

/** GET of a path shorter than 127 bytes, with the host "a" (RFC 7541, 6: static names, plain values). */
export function headersOf(stream: number, path: string, end: boolean): Buffer {
  const text = Buffer.from(path, 'latin1');
  const block = Buffer.concat([Buffer.from([0x82, 0x86, 0x41, 1, 0x61, 0x44, text.length]), text]);
  return frame(FRAME.headers, END_HEADERS | (end ? END_STREAM : 0), stream, block);
}

export const dataOf = (stream: number, length: number, end: boolean): Buffer =>
  frame(FRAME.data, end ? END_STREAM : 0, stream, Buffer.alloc(length, 'x'));

/** `:status: 200`. */
export const answerOf = (stream: number, end: boolean): Buffer =>
  frame(FRAME.headers, END_HEADERS | (end ? END_STREAM : 0), stream, Buffer.from([0x88]));

/** Which streams are opened by bytes that begin with a frame, as far as they are whole. */
export function* streamsIn(bytes: Buffer): Generator<number> {
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    if (bytes[at + 3] === FRAME.headers) yield bytes.readUInt32BE(at + 5);
    at += HEADER_BYTES + bytes.readUIntBE(at, 3);
  }
}

// The file format of pprof: a gzipped protobuf message, perftools.profiles.Profile.
import { createRequire } from 'node:module';
import type Zlib from 'node:zlib';
import { WireWriter } from '../../base/wire.js';

export interface ProfileFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

export interface ProfileSample {
  /** Inner first. */
  readonly frames: readonly ProfileFrame[];
  /** One for each of the profile's kinds. */
  readonly values: readonly number[];
  /** A label of the sample. */
  readonly thread: string;
}

type Kind = readonly [what: string, unit: string];

export interface Profile {
  readonly kinds: readonly Kind[];
  readonly samples: readonly ProfileSample[];
  /** Of what there is a sample every `period`. */
  readonly periodKind: Kind;
  readonly period: number;
  readonly durationNanos: number;
}

export function encodeProfile(profile: Profile): Buffer {
  // Loaded only for this: it takes long.
  const { gzipSync } = createRequire(import.meta.url)('node:zlib') as typeof Zlib;
  return gzipSync(new ProfileWriter().write(profile));
}

const varint = (field: number): number => field << 3;
const nested = (field: number): number => (field << 3) | 2;

/** Texts and places are written once and named by their numbers. */
class ProfileWriter {
  readonly #out = new WireWriter();
  readonly #texts = new Map<string, number>([['', 0]]);
  readonly #places = new Map<string, { readonly id: number; readonly frame: ProfileFrame }>();

  write({ kinds, samples, periodKind, period, durationNanos }: Profile): Uint8Array {
    for (const kind of kinds) this.#kind(1, kind);
    for (const sample of samples) this.#out.message(nested(2), sample, this.#sample);
    for (const place of this.#places.values()) {
      this.#out.message(nested(4), place.id, writeLocation);
      this.#function(place.id, place.frame);
    }
    this.#kind(11, periodKind);
    for (const text of this.#texts.keys()) this.#out.text(nested(6), text);
    this.#out.number(varint(9), Date.now() * 1e6);
    this.#out.number(varint(10), durationNanos);
    this.#out.number(varint(12), period);
    return this.#out.finish();
  }

  #kind(field: number, [what, unit]: Kind): void {
    const numbers = [this.#text(what), this.#text(unit)] as const;
    this.#out.message(nested(field), numbers, (out, [type, of]) => {
      out.number(varint(1), type);
      out.number(varint(2), of);
    });
  }

  readonly #sample = (out: WireWriter, { frames, values, thread }: ProfileSample): void => {
    for (const frame of frames) out.number(varint(1), this.#place(frame));
    for (const value of values) out.number(varint(2), value);
    out.message(nested(3), this.#text(thread), (label, text) => {
      label.number(varint(1), this.#text('thread'));
      label.number(varint(2), text);
    });
  };

  /** A function and the place in it that is shown have the same number. */
  #function(id: number, frame: ProfileFrame): void {
    const name = this.#text(frame.functionName || '(anonymous)');
    const file = this.#text(frame.url);
    this.#out.message(nested(5), id, (out) => {
      out.number(varint(1), id);
      out.number(varint(2), name);
      out.number(varint(3), name);
      out.number(varint(4), file);
      out.number(varint(5), frame.lineNumber + 1);
    });
  }

  #place(frame: ProfileFrame): number {
    const key = `${frame.functionName}\n${frame.url}\n${frame.lineNumber}`;
    let place = this.#places.get(key);
    if (!place) {
      place = { id: this.#places.size + 1, frame };
      this.#places.set(key, place);
    }
    return place.id;
  }

  #text(text: string): number {
    let number = this.#texts.get(text);
    if (number === undefined) {
      number = this.#texts.size;
      this.#texts.set(text, number);
    }
    return number;
  }
}

function writeLocation(out: WireWriter, id: number): void {
  out.number(varint(1), id);
  out.message(nested(4), id, (line, functionId) => line.number(varint(1), functionId));
}

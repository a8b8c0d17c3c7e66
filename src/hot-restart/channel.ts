// One process's end of what processes say to each other: messages of any length, with descriptors,
// over a datagram socket that has a name.
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { getSystemErrorMessage } from './system-error.js';
import { guarded } from '../base/bugs.js';
import type { HotRestartAddon, MessageSocket } from '../native-hot-restart.js';
import { Assembly, fragment, type Whole } from './fragments.js';

/** While the receiver's queue is full. */
const RETRY_MS = 2;
/** It does not read, and whoever else waits for a message is not to wait for it. */
const FULL_MS = 10_000;
const { EAGAIN, ENOBUFS, ECONNREFUSED, ENOENT } = constants.errno;

/** A message could not be sent. */
export class SendError extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super(getSystemErrorMessage(errno));
    this.errno = errno;
  }

  /** Nobody has the name that it was sent to. */
  get isNobodyThere(): boolean {
    return this.errno === ECONNREFUSED || this.errno === ENOENT;
  }
}

/** A name is taken, or cannot be made. */
export class BindError extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super(getSystemErrorMessage(errno));
    this.errno = errno;
  }
}

export class Channel {
  readonly name: string;
  readonly #addon: HotRestartAddon;
  readonly #socket: MessageSocket;
  readonly #sender = Math.floor(Math.random() * 2 ** 32);
  #lastId = 0;
  /** Parts of two messages must not come mixed. */
  #sending: Promise<unknown> = Promise.resolve();

  /** Throws a BindError. */
  constructor(
    addon: HotRestartAddon,
    name: string,
    mode: number,
    onMessage: (message: Whole) => void,
  ) {
    this.name = name;
    this.#addon = addon;
    const assembly = new Assembly((descriptors) => addon.closeDescriptors(descriptors));
    const take = (bytes: Buffer, descriptors: readonly number[]): void => {
      const whole = assembly.add(bytes, descriptors);
      if (whole) onMessage(whole);
    };
    const socket = addon.bindSocket(name, mode, guarded('a message of a hot restart', take));
    if (typeof socket === 'number') throw new BindError(socket);
    this.#socket = socket;
  }

  /** Rejects with a SendError. The descriptors stay the caller's, and must be good until then. */
  send(to: string, message: Uint8Array, descriptors: readonly number[] = []): Promise<void> {
    const turn = this.#sending.then(() => this.#sendNow(to, message, descriptors));
    this.#sending = turn.catch(() => undefined);
    return turn;
  }

  /** Whether anybody has this name. What is sent is no part of any message. */
  isSomebodyThere(name: string): boolean {
    const errno = this.#socket.send(name, new Uint8Array());
    return errno !== ECONNREFUSED && errno !== ENOENT;
  }

  close(): void {
    this.#socket.close();
  }

  async #sendNow(to: string, message: Uint8Array, descriptors: readonly number[]): Promise<void> {
    this.#lastId += 1;
    const { maxMessageBytes } = this.#addon;
    const patientUntil = performance.now() + FULL_MS;
    let beside = descriptors;
    for (const part of fragment(message, this.#sender, this.#lastId, maxMessageBytes)) {
      for (;;) {
        const errno = this.#socket.send(to, part, beside);
        if (errno === 0) break;
        const isFull = errno === EAGAIN || errno === ENOBUFS;
        if (!isFull || performance.now() > patientUntil) throw new SendError(errno);
        await sleep(RETRY_MS);
      }
      beside = [];
    }
  }
}

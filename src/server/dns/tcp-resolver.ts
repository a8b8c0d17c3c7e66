// Asks servers of DNS over TCP, which Node's own resolver cannot be told to do: a connection for each
// question (RFC 7766), one server after the other.
import { randomInt } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { startTimeout } from '../../base/timers.js';
import { decodeResponse, encodeQuestion, type AddressRecord } from './dns-message.js';

export interface TcpResolverOptions {
  /** "192.0.2.1", "192.0.2.1:5353" or "[2001:db8::1]:53". */
  readonly servers: readonly string[];
  readonly timeoutMs: number;
  readonly tries: number;
}

const DEFAULT_PORT = 53;
const LENGTH_BYTES = 2;
const IDS = 0x1_0000;

const failed = (code: string): Error => Object.assign(new Error(code), { code });

export class TcpResolver {
  readonly #options: TcpResolverOptions;
  readonly #open = new Set<Socket>();

  constructor(options: TcpResolverOptions) {
    this.#options = options;
  }

  /** Rejects as Node's own resolver does. */
  async resolve(name: string, family: 4 | 6): Promise<readonly AddressRecord[]> {
    const { servers, tries } = this.#options;
    let error: unknown = failed('ECONNREFUSED');
    for (let left = tries; left > 0; left--) {
      for (const server of servers) {
        try {
          return await this.#ask(server, name, family);
        } catch (one) {
          const { code } = one as NodeJS.ErrnoException;
          // What a server knows the others know as well.
          if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'ECANCELLED') throw one;
          error = one;
        }
      }
    }
    throw error;
  }

  cancel(): void {
    for (const socket of this.#open) socket.destroy(failed('ECANCELLED'));
  }

  #ask(server: string, name: string, family: 4 | 6): Promise<readonly AddressRecord[]> {
    const id = randomInt(IDS);
    const question = encodeQuestion(id, name, family);
    if (!question) return Promise.reject(failed('ENOTFOUND'));
    return new Promise((resolve, reject) => {
      const socket = connect({ ...placeOf(server), timeout: this.#options.timeoutMs });
      this.#open.add(socket);
      let got = Buffer.alloc(0);
      const deadline = startTimeout(
        () => socket.destroy(failed('ETIMEOUT')),
        this.#options.timeoutMs,
      );
      socket.on('connect', () => {
        const length = Buffer.alloc(LENGTH_BYTES);
        length.writeUInt16BE(question.length);
        socket.write(Buffer.concat([length, question]));
      });
      socket.on('data', (bytes: Buffer) => {
        got = Buffer.concat([got, bytes]);
        const end = got.length < LENGTH_BYTES ? Infinity : LENGTH_BYTES + got.readUInt16BE(0);
        if (got.length < end) return;
        const response = decodeResponse(got.subarray(LENGTH_BYTES, end), family);
        if (response?.id !== id) socket.destroy(failed('EBADRESP'));
        else if ('code' in response) socket.destroy(failed(response.code));
        else {
          resolve(response.records);
          socket.destroy();
        }
      });
      socket.on('error', reject);
      socket.on('close', () => {
        clearTimeout(deadline);
        this.#open.delete(socket);
        reject(failed('ECONNREFUSED'));
      });
    });
  }
}

function placeOf(server: string): { readonly host: string; readonly port: number } {
  const bracketed = /^\[(.+)\](?::(\d+))?$/.exec(server);
  if (bracketed) return { host: bracketed[1]!, port: Number(bracketed[2] ?? DEFAULT_PORT) };
  const [host = '', port, ...more] = server.split(':');
  // An address of IPv6 by itself.
  if (more.length > 0) return { host: server, port: DEFAULT_PORT };
  return { host, port: Number(port ?? DEFAULT_PORT) };
}

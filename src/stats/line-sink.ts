// statsd over TCP: lines to one host of a cluster. The connection is opened by the first line, and
// again by the first after its end.
import { connect, type Socket } from 'node:net';
import { guarded } from '../base/bugs.js';
import { Outage } from './outage.js';
import type { SinkHost, StatsSink } from './sink.js';

const WHERE = 'a statsd connection';

/** What a server that does not read may make us keep. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

export class LineSink implements StatsSink {
  readonly #cluster: string;
  readonly #host: SinkHost;
  readonly #outage: Outage;
  #socket: Socket | undefined;

  constructor(cluster: string, host: SinkHost) {
    this.#cluster = cluster;
    this.#host = host;
    this.#outage = new Outage('statsd server', host);
  }

  write(piece: Buffer): void {
    if (this.#socket && this.#socket.writableLength > MAX_BUFFERED_BYTES) {
      this.#socket.destroy();
      this.#socket = undefined;
      this.#host.count('statsd.cx_overflow');
      return;
    }
    this.#socket ??= this.#connect();
    if (!this.#socket) return;
    const sent = (error?: Error | null): void => {
      if (!error) this.#host.countOf(this.#cluster, 'upstream_cx_tx_bytes_total', piece.length);
    };
    this.#socket.write(piece, guarded(WHERE, sent));
  }

  end(): void {
    // Lines have no end.
  }

  close(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    if (!socket || socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      socket.once('close', () => resolve());
      socket.end(() => resolve());
    });
  }

  #connect(): Socket | undefined {
    const target = this.#host.chooseHost(this.#cluster);
    if (!target) return undefined;
    // Port 0: a pipe.
    const socket =
      target.port === 0 ? connect(target.address) : connect(target.port, target.address);
    socket.unref();
    const count = (bytes: Buffer): void =>
      this.#host.countOf(this.#cluster, 'upstream_cx_rx_bytes_total', bytes.length);
    const fail = (error: Error): void => this.#outage.begin(error.message);
    socket.on('data', guarded(WHERE, count));
    socket.on(
      'connect',
      guarded(WHERE, () => this.#outage.end()),
    );
    socket.on('error', guarded(WHERE, fail));
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = undefined;
    });
    return socket;
  }
}

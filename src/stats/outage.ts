// A destination of statistics that cannot be reached: said once, and once more when it is back.
import type { SinkHost } from './sink.js';

export class Outage {
  readonly #destination: string;
  readonly #host: Pick<SinkHost, 'warn' | 'info'>;
  #isDown = false;

  /** `destination`: as lines of the log begin. */
  constructor(destination: string, host: Pick<SinkHost, 'warn' | 'info'>) {
    this.#destination = destination;
    this.#host = host;
  }

  begin(reason: string): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#host.warn(`${this.#destination}: ${reason}; statistics are lost until it is back`);
  }

  end(): void {
    if (!this.#isDown) return;
    this.#isDown = false;
    this.#host.info(`${this.#destination}: is back`);
  }
}

// A gRPC server that takes statistics, on a port of its own.
import type { TestContext } from 'node:test';
import { Server, ServerCredentials, type Metadata } from '@grpc/grpc-js';

const PATH = '/envoy.service.metrics.v3.MetricsService/StreamMetrics';

export interface MetricsStream {
  readonly metadata: Metadata;
  readonly authority: string;
  readonly messages: Buffer[];
  /** The client has said that nothing more comes. */
  isEnded: boolean;
}

interface Call {
  readonly metadata: Metadata;
  getHost(): string;
  on(event: 'data', take: (bytes: Buffer) => void): void;
  on(event: 'end', act: () => void): void;
}

const asIs = (bytes: Buffer): Buffer => bytes;

export class MetricsServer {
  readonly streams: MetricsStream[] = [];
  readonly #server = new Server();
  #port = 0;

  private constructor() {
    const serve = (call: Call, answer: (error: null, message: Buffer) => void): void => {
      const stream = {
        metadata: call.metadata,
        authority: call.getHost(),
        messages: [] as Buffer[],
        isEnded: false,
      };
      this.streams.push(stream);
      call.on('data', (bytes) => stream.messages.push(bytes));
      call.on('end', () => {
        stream.isEnded = true;
        answer(null, Buffer.alloc(0));
      });
    };
    this.#server.register(PATH, serve, asIs, asIs, 'clientStream');
  }

  /** Ended with the story. */
  static async start(
    t: TestContext,
    credentials = ServerCredentials.createInsecure(),
    port = 0,
  ): Promise<MetricsServer> {
    const made = new MetricsServer();
    await made.#bind(port, credentials);
    t.after(() => made.stop());
    return made;
  }

  get port(): number {
    return this.#port;
  }

  get messageCount(): number {
    return this.streams.reduce((sum, { messages }) => sum + messages.length, 0);
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #bind(port: number, credentials: ServerCredentials): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) => {
        this.#port = bound;
        if (error) reject(error);
        else resolve();
      });
    });
  }
}

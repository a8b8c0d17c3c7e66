// How requests of OpenTelemetry go to a collector: over gRPC, or as posts.
import { versionText } from '../base/version.js';
import type { GrpcClient } from '../grpc/client.js';
import { statusText } from '../grpc/status.js';
import type { ClusterHttp } from '../http/cluster-http.js';
import type { HttpServicePlan } from '../plan/http-service.js';

export interface OtlpSender {
  /** Why it came to nothing, or nothing. */
  send(request: Uint8Array): Promise<string | undefined>;
  close(): void;
}

/** What a collector that does not answer may make us keep. */
const MOST_REQUESTS = 256;

const USER_AGENT = 'OTel-OTLP-Exporter-Envoy/';

export class OtlpHttpSender implements OtlpSender {
  readonly #http: ClusterHttp;
  readonly #service: HttpServicePlan;

  constructor(http: ClusterHttp, service: HttpServicePlan) {
    this.#http = http;
    this.#service = service;
  }

  get isThere(): boolean {
    return this.#http.isThere;
  }

  async send(request: Uint8Array): Promise<string | undefined> {
    const { host, path, headers, timeoutMs } = this.#service;
    const status = await this.#http.post({
      host,
      path,
      headers: [
        ['content-type', 'application/x-protobuf'],
        ['user-agent', USER_AGENT + versionText()],
        ...headers,
      ],
      body: request,
      timeoutMs,
    });
    if (status === undefined) return 'the answer broke off';
    return status === 200 ? undefined : `the collector answered with ${status}`;
  }

  close(): void {
    this.#http.close();
  }
}

export class OtlpGrpcSender implements OtlpSender {
  readonly #client: GrpcClient;
  readonly #method: string;
  #waiting = 0;

  /** The client is the sender's own. */
  constructor(client: GrpcClient, method: string) {
    this.#client = client;
    this.#method = method;
  }

  send(request: Uint8Array): Promise<string | undefined> {
    if (this.#waiting >= MOST_REQUESTS) return Promise.resolve('the collector does not answer');
    this.#waiting++;
    return new Promise((resolve) => {
      const stream = this.#client.open(this.#method, {
        // What is wrong with single spans is theirs to know.
        onMessage: () => undefined,
        onEnd: (status) => {
          this.#waiting--;
          resolve(status.code === 'OK' ? undefined : statusText(status));
        },
      });
      stream.write(Buffer.from(request), () => undefined);
      stream.end();
    });
  }

  close(): void {
    this.#client.close();
  }
}

// A gRPC service at the hosts of a cluster, over HTTP/2 connections that all services there share.
import type { OutgoingHttpHeaders } from 'node:http2';
import { guarded } from '../base/bugs.js';
import type { GrpcClient, GrpcStream, GrpcStreamEvents } from './client.js';
import type { EnvoyGrpcPlan, GrpcClusterPlan } from '../plan/service-plan.js';
import { ClusterStream } from './cluster-stream.js';
import type { SharedPool } from './shared-pool.js';

export class ClusterClient implements GrpcClient {
  readonly #service: EnvoyGrpcPlan;
  readonly #pool: SharedPool;
  readonly #onClose: () => void;
  readonly #streams = new Set<GrpcStream>();

  constructor(service: EnvoyGrpcPlan, pool: SharedPool, onClose: () => void) {
    this.#service = service;
    this.#pool = pool;
    this.#onClose = onClose;
  }

  get isThere(): boolean {
    return this.#pool.current !== undefined;
  }

  open(method: string, events: GrpcStreamEvents): GrpcStream {
    const pool = this.#pool.current;
    const left = (over: GrpcStream): boolean => this.#streams.delete(over);
    const stream = pool
      ? new ClusterStream(
          pool,
          this.#service,
          headersOf(method, this.#service, pool.cluster),
          events,
          left,
        )
      : new StreamToNobody(events, left);
    this.#streams.add(stream);
    return stream;
  }

  close(): void {
    for (const stream of [...this.#streams]) stream.cancel();
    this.#onClose();
  }
}

function headersOf(
  method: string,
  { authority, metadata }: EnvoyGrpcPlan,
  cluster: GrpcClusterPlan,
): OutgoingHttpHeaders {
  return {
    ':method': 'POST',
    ':path': method,
    ':authority': authority,
    ':scheme': cluster.tls ? 'https' : 'http',
    te: 'trailers',
    'content-type': 'application/grpc',
    // Bytes are text of base64 on the wire.
    ...Object.fromEntries(
      metadata.map(([name, value]) => [
        name,
        typeof value === 'string' ? value : value.toString('base64'),
      ]),
    ),
  };
}

/** Where there is no such cluster. */
class StreamToNobody implements GrpcStream {
  readonly isConnected = false;
  readonly #left: (stream: GrpcStream) => boolean;

  constructor(events: GrpcStreamEvents, left: (stream: GrpcStream) => boolean) {
    this.#left = left;
    // Later, so that whoever opens a stream has it before it hears of it.
    queueMicrotask(
      guarded('a gRPC stream to nobody', () => {
        if (left(this)) {
          events.onEnd({ code: 'UNAVAILABLE', message: 'Cluster not available', isAtOnce: true });
        }
      }),
    );
  }

  write(_: Buffer, onSent: () => void): void {
    onSent();
  }

  end(): void {
    // Its end is on its way.
  }

  cancel(): void {
    this.#left(this);
  }
}

// A gRPC service at the hosts of a cluster, over HTTP/2 connections that all services there share.
import type { OutgoingHttpHeaders } from 'node:http2';
import type { GrpcClient, GrpcStream, GrpcStreamEvents } from './client.js';
import type { ClusterPool } from './cluster-pool.js';
import { ClusterStream } from './cluster-stream.js';
import type { EnvoyGrpcPlan } from '../plan/service-plan.js';

export class ClusterClient implements GrpcClient {
  readonly #service: EnvoyGrpcPlan;
  readonly #pool: ClusterPool;
  readonly #onClose: () => void;
  readonly #streams = new Set<ClusterStream>();

  constructor(service: EnvoyGrpcPlan, pool: ClusterPool, onClose: () => void) {
    this.#service = service;
    this.#pool = pool;
    this.#onClose = onClose;
  }

  open(method: string, events: GrpcStreamEvents): GrpcStream {
    const { authority, cluster, metadata } = this.#service;
    const headers: OutgoingHttpHeaders = {
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
    const stream = new ClusterStream(this.#pool, this.#service, headers, events, (over) =>
      this.#streams.delete(over),
    );
    this.#streams.add(stream);
    return stream;
  }

  close(): void {
    for (const stream of [...this.#streams]) stream.cancel();
    this.#onClose();
  }
}

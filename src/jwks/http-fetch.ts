// HTTP/1.1 to the hosts of a cluster, as the real server's own client asks them: by undici, over sockets
// that are dialled as those of gRPC services, and counted on the cluster.
import { undici } from '../base/late-modules.js';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as Undici from 'undici';
import { timeoutSignal } from '../base/timers.js';
import { ClusterStats, type ClusterNative, type StatsHost } from '../grpc/cluster-stats.js';
import { dial } from '../grpc/dial.js';
import type { ControlHost } from '../native.js';
import type { HttpSource } from '../plan/jwks-source.js';
import type { GrpcClusterPlan } from '../plan/service-plan.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** An answer that is longer is none. */
const LONGEST_BYTES = 16 * 2 ** 20;
const FIRST_ERROR = 500;

/** Undefined: there is no whole answer within the time, whatever was tried. */
export async function fetchOf(
  source: HttpSource,
  request: HttpRequest,
  native: ClusterNative,
  stats: StatsHost,
): Promise<HttpAnswer | undefined> {
  const cluster = source.cluster();
  if (!cluster) return undefined;
  const counts = new ClusterStats(cluster.name, native, stats);
  counts.countCall();
  const signal = source.timeoutMs > 0 ? timeoutSignal(source.timeoutMs) : undefined;
  for (let tries = 0; ; tries += 1) {
    const answer = await ask({ cluster, source, request, counts, signal });
    if (answer && answer.status < FIRST_ERROR) return answer;
    if (tries >= source.retries || signal?.aborted) return answer;
    counts.count('upstream_rq_retry');
    counts.count('upstream_rq_retry_backoff_exponential');
    await pause(backOffMs(source, tries), signal);
  }
}

interface Attempt {
  readonly cluster: GrpcClusterPlan;
  readonly source: HttpSource;
  readonly request: HttpRequest;
  readonly counts: ClusterStats;
  readonly signal: AbortSignal | undefined;
}

async function ask(attempt: Attempt): Promise<HttpAnswer | undefined> {
  const { source, request, counts, signal } = attempt;
  const host = counts.chooseHost();
  if (!host) {
    counts.count('upstream_cx_none_healthy');
    return undefined;
  }
  const client = new (undici().Client)('http://host', {
    maxResponseSize: LONGEST_BYTES,
    connect: (_: unknown, done: (error: Error | null, socket: Socket | null) => void) =>
      connect(attempt, host, done),
  } as Undici.Client.Options);
  const startedMs = performance.now();
  counts.count('upstream_rq_total');
  counts.countOn(host, 'rq_total');
  try {
    const answer = await client.request({
      method: request.method,
      path: source.path,
      headers: { host: source.host, ...request.headers },
      ...(request.body && { body: request.body }),
      ...(signal && { signal }),
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    counts.countAnswer(answer.statusCode);
    counts.countOn(host, answer.statusCode < FIRST_ERROR ? 'rq_success' : 'rq_error');
    counts.record('upstream_rq_time', performance.now() - startedMs);
    return { status: answer.statusCode, body };
  } catch {
    if (signal?.aborted) counts.count('upstream_rq_timeout');
    counts.countOn(host, 'rq_error');
    counts.countAnswer(signal?.aborted ? 504 : 503);
    return undefined;
  } finally {
    await client.destroy();
  }
}

/** A connection is counted from its beginning to its end. */
function connect(
  { cluster, counts }: Attempt,
  host: ControlHost,
  done: (error: Error | null, socket: Socket | null) => void,
): void {
  const startedMs = performance.now();
  counts.count('upstream_cx_total');
  counts.count('upstream_cx_http1_total');
  counts.countOn(host, 'cx_total');
  dial(cluster, host, {
    onOpen: (socket, raw) => {
      counts.record('upstream_cx_connect_ms', performance.now() - startedMs);
      counts.move('upstream_cx_active', 1);
      counts.countOn(host, 'cx_active');
      raw.once('close', () => {
        counts.move('upstream_cx_active', -1);
        counts.countOn(host, 'cx_active', -1);
        counts.count('upstream_cx_destroy');
        counts.count('upstream_cx_destroy_local');
        counts.count('upstream_cx_rx_bytes_total', raw.bytesRead);
        counts.count('upstream_cx_tx_bytes_total', raw.bytesWritten);
        counts.record('upstream_cx_length_ms', performance.now() - startedMs);
      });
      done(null, socket);
    },
    onFailure: ({ kind, message }) => {
      counts.count(kind === 'timeout' ? 'upstream_cx_connect_timeout' : 'upstream_cx_connect_fail');
      counts.countOn(host, 'cx_connect_fail');
      counts.count('upstream_rq_pending_failure_eject');
      done(new Error(message), null);
    },
  });
}

/** As the real server: by chance, up to a bound that doubles. */
function backOffMs({ backOff }: HttpSource, tries: number): number {
  return Math.random() * Math.min(backOff.baseMs * 2 ** (tries + 1), backOff.maxMs);
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { setTimeout: wait } = createRequire(import.meta.url)(
    'node:timers/promises',
  ) as typeof import('node:timers/promises');
  await wait(ms, undefined, { ...(signal && { signal }), ref: false }).catch(() => undefined);
}

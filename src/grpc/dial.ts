// A socket to a host of a cluster: TCP or a pipe, and TLS where the cluster has it.
import { connect as connectTcp, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { guarded } from '../base/bugs.js';
import { tls as nodeTls } from '../base/late-modules.js';
import { formatIp } from '../plan/address/ip.js';
import type { ControlHost } from '../native.js';
import type { DialFailure } from './dial-failure.js';
import { refusalOf } from './peer-certificate.js';
import { secureContextOf } from '../plan/cluster/secure-context.js';
import type { GrpcClusterPlan, UpstreamTlsPlan } from '../plan/service-plan.js';
import { startImmediate, startTimeout } from '../base/timers.js';

export interface DialEvents {
  /** `raw`: below TLS; its counts are those of the network. */
  onOpen(socket: Socket, raw: Socket): void;
  onFailure(failure: DialFailure): void;
}

const WHERE = 'a gRPC connection';
const FAULT: DialFailure = { kind: 'refused', message: 'a fault of the proxy' };

/** Exactly one event follows, unless what comes back was called before: it gives the attempt up. */
export function dial(cluster: GrpcClusterPlan, host: ControlHost, events: DialEvents): () => void {
  const raw =
    host.port === 0
      ? connectTcp(host.address)
      : connectTcp({
          host: host.address,
          port: host.port,
          ...(cluster.source && {
            localAddress: formatIp(cluster.source.ip ?? new Uint8Array()),
            localPort: cluster.source.port ?? 0,
          }),
        });
  raw.setNoDelay(true);
  if (cluster.keepalive) raw.setKeepAlive(true, cluster.keepalive.idleMs);
  let top: Socket = raw;
  let isOver = false;
  const giveUp = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    // Later: Node dies of a TLS socket that is destroyed by its own events. It takes what is below it.
    startImmediate(() => top.destroy());
  };
  const fail = guarded(WHERE, (failure: DialFailure): void => {
    if (isOver) return;
    giveUp();
    events.onFailure(failure);
  });
  const timer = startTimeout(
    () => fail({ kind: 'timeout', message: `no connection within ${cluster.connectTimeoutMs} ms` }),
    cluster.connectTimeoutMs,
  );
  const succeed = (socket: Socket): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    events.onOpen(socket, raw);
  };
  raw.on('error', (error) => fail({ kind: 'refused', message: error.message }));
  raw.once('close', () => fail({ kind: 'refused', message: 'the connection was closed' }));
  const shakeHands = guarded(
    WHERE,
    (socket: TLSSocket, tls: UpstreamTlsPlan) => {
      const refusal = refusalOf(socket, tls);
      if (refusal) fail(refusal);
      else succeed(socket);
    },
    () => fail(FAULT),
  );
  const opened = (): void => {
    if (!cluster.tls) {
      succeed(raw);
      return;
    }
    const tls = tlsNow(cluster.tls);
    if ('kind' in tls) {
      fail(tls);
      return;
    }
    const socket = nodeTls().connect({
      socket: raw,
      secureContext: secureContextOf(tls),
      ALPNProtocols: [...tls.alpn],
      ...(tls.sni !== '' && { servername: tls.sni }),
      // What the configuration wants to be verified is verified below, and nothing else.
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    top = socket;
    socket.on('error', (error) => fail({ kind: 'tls', message: reasonOf(error) }));
    socket.once('secureConnect', () => shakeHands(socket, tls));
  };
  raw.once(
    'connect',
    guarded(WHERE, opened, () => fail(FAULT)),
  );
  return giveUp;
}

/** Why there is none. */
function tlsNow(tls: UpstreamTlsPlan): UpstreamTlsPlan | DialFailure {
  const now = tls.live ? tls.live.current : tls;
  if (!now) return { kind: 'secret', message: 'TLS: a secret has not come yet' };
  if (now.unsupported !== undefined) {
    return { kind: 'tls', message: `TLS: ${now.unsupported} is not supported here` };
  }
  return now;
}

/** OpenSSL's own message tells of its sources. */
function reasonOf(error: Error & { readonly reason?: string }): string {
  return `TLS: ${error.reason ?? error.message}`;
}

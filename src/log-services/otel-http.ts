// OTLP over HTTP/1.1 to the hosts of a cluster: by undici, over sockets that are dialled as those of
// gRPC services.
import { undici } from '../base/late-modules.js';
import { ownHeader } from '../base/own-headers.js';
import { timeoutSignal } from '../base/timers.js';
import type { Socket } from 'node:net';
import type * as Undici from 'undici';
import type { BuildVersion } from '../base/version.js';
import { dial } from '../grpc/dial.js';
import type { ControlHost } from '../native.js';
import type { OtelHttpPlan } from '../plan/log-service.js';

/** The answer's status, on a connection of its own. Undefined: there is none within the time. */
export async function postLogs(
  { cluster, host: authority, path, timeoutMs, headers, localAddress }: OtelHttpPlan,
  host: ControlHost | undefined,
  body: Buffer,
  build: BuildVersion,
): Promise<number | undefined> {
  if (!host) return undefined;
  const client = new (undici().Client)('http://otlp', {
    connect: (_: unknown, done: (error: Error | null, socket: Socket | null) => void) => {
      dial(cluster, host, {
        onOpen: (socket) => done(null, socket),
        onFailure: ({ message }) => done(new Error(message), null),
      });
    },
  } as Undici.Client.Options);
  try {
    const answer = await client.request({
      method: 'POST',
      path,
      headers: [
        ...['host', authority],
        ...['content-type', 'application/x-protobuf'],
        ...['user-agent', `OTel-OTLP-Exporter-Envoy/${versionText(build)}`],
        ...headers.flat(),
        ...[ownHeader('internal'), 'true'],
        ...['x-forwarded-for', localAddress],
        ...(timeoutMs > 0 ? [ownHeader('expected-rq-timeout-ms'), String(timeoutMs)] : []),
      ],
      body,
      ...(timeoutMs > 0 && { signal: timeoutSignal(timeoutMs) }),
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return undefined;
  } finally {
    await client.destroy();
  }
}

/** As the real server spells its version. */
function versionText({ version, metadata }: BuildVersion): string {
  const { major_number: major, minor_number: minor, patch } = version;
  const said = (key: string): string => String(metadata[key] ?? '');
  return [
    said('revision.sha'),
    `${major}.${minor}.${patch}`,
    said('revision.status'),
    said('build.type'),
    said('ssl.version'),
  ].join('/');
}

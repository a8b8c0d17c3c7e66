// A google_grpc service: the gRPC library finds its hosts, and connects to them, by itself.
import { readFileSync } from 'node:fs';
import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type ChannelCredentials,
  type StatusObject,
} from '@grpc/grpc-js';
import { guarded } from '../base/bugs.js';
import type { GrpcClient, GrpcStream, GrpcStreamEvents } from './client.js';
import type { StatsHost } from './cluster-stats.js';
import type { GoogleGrpcPlan } from '../plan/service-plan.js';
import { GRPC_CODES, type GrpcStatus } from './status.js';

const WHERE = 'a google_grpc stream';

/** A server that is back is found so soon; by itself the library may take two minutes. */
const MAX_RECONNECT_MS = 5000;

const asIs = (bytes: Buffer): Buffer => bytes;

export class GoogleClient implements GrpcClient {
  readonly isThere = true;
  readonly #service: GoogleGrpcPlan;
  readonly #stats: StatsHost;
  readonly #prefix: string;
  readonly #client: Client;
  readonly #onClosed: () => void;

  /** `prefix`: how its statistics begin. */
  constructor(service: GoogleGrpcPlan, prefix: string, stats: StatsHost, onClosed: () => void) {
    this.#onClosed = onClosed;
    this.#service = service;
    this.#stats = stats;
    this.#prefix = prefix;
    this.#client = new Client(service.target, channelCredentials(service), {
      'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_MS,
      // Clients of different services share no connections.
      'grpc.use_local_subchannel_pool': 1,
      ...service.channelOptions,
    });
    stats.count(`${prefix}google_grpc_client_creation`);
  }

  open(method: string, events: GrpcStreamEvents): GrpcStream {
    const metadata = new Metadata();
    for (const [name, value] of this.#service.metadata) metadata.set(name, value);
    this.#stats.count(`${this.#prefix}streams_total`);
    const call = this.#client.makeBidiStreamRequest(method, asIs, asIs, metadata);
    let isOver = false;
    call.on(
      'data',
      guarded(WHERE, (message: Buffer) => {
        if (!isOver) events.onMessage(message);
      }),
    );
    // What went wrong is told by the status.
    call.on('error', () => undefined);
    call.on(
      'status',
      guarded(WHERE, (status: StatusObject) => {
        const { code, message } = endOf(status);
        this.#stats.count(`${this.#prefix}streams_closed_${GRPC_CODES.indexOf(code)}`);
        if (isOver) return;
        isOver = true;
        events.onEnd({ code, message });
      }),
    );
    const client = this.#client;
    return {
      get isConnected() {
        return client.getChannel().getConnectivityState(false) === connectivityState.READY;
      },
      write: (message, onSent) => {
        call.write(message, onSent);
      },
      end: () => call.end(),
      cancel: () => {
        isOver = true;
        call.cancel();
      },
    };
  }

  close(): void {
    this.#client.close();
    this.#onClosed();
  }
}

/** As the real server: a stream that could not even begin has ended by a fault of its own. */
function endOf({ code, details, metadata }: StatusObject): GrpcStatus {
  const known = GRPC_CODES[code] ?? 'UNKNOWN';
  const isOfLibrary = Object.keys(metadata.getMap()).length === 0;
  return known === 'UNAVAILABLE' && isOfLibrary
    ? { code: 'INTERNAL', message: details }
    : { code: known, message: details };
}

function channelCredentials({
  credentials: plan,
  accessTokens,
  fileTokens,
}: GoogleGrpcPlan): ChannelCredentials {
  if (plan.kind === 'insecure') return credentials.createInsecure();
  let channel = credentials.createSsl(plan.roots, plan.key, plan.chain);
  for (const token of accessTokens) {
    const call = credentials.createFromMetadataGenerator((_, done) => {
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${token}`);
      done(null, metadata);
    });
    channel = credentials.combineChannelCredentials(channel, call);
  }
  for (const token of fileTokens) {
    const call = credentials.createFromMetadataGenerator((_, done) => {
      const metadata = new Metadata();
      try {
        const text = token.path === undefined ? token.text : readFileSync(token.path, 'utf8');
        // The end of the last line is no part of it.
        metadata.set(token.header, token.prefix + text.trimEnd());
      } catch (error) {
        done(error as Error);
        return;
      }
      done(null, metadata);
    });
    channel = credentials.combineChannelCredentials(channel, call);
  }
  return channel;
}

// Credentials of AWS, fetched from services before they end, and given to all workers. Each filter has a
// chain of those whom it asks: the first that gives any counts.
import { undici } from '../base/late-modules.js';
import { readFileSync } from 'node:fs';
import { unawaited } from '../base/bugs.js';
import { startImmediate, startTimeout } from '../base/timers.js';
import type { envoy_config_cluster_v3_Cluster as Cluster } from '../../build/messages.gen.js';
import type { ClusterNative, StatsHost } from '../grpc/cluster-stats.js';
import { HttpFetcher } from '../http/http-fetcher.js';
import type { NativeProxy } from '../native.js';
import { placeOf, type AwsChain, type AwsProvider } from '../plan/aws/chain.js';
import type { LiveSources } from '../plan/live-sources.js';
import { encodeUpdate, type AwsCredentials } from '../plan/plan.gen.js';
import type { ClusterLookup } from '../plan/service-plan.js';
import { Telling } from './telling.js';
import * as requests from './aws-requests.js';
import { metadataCluster } from './metadata-cluster.js';
import { anywhereRequest, readAnywhere } from './aws-roles-anywhere.js';
import type { AwsRequest, Fetched } from './aws-requests.js';

export interface AwsHost {
  readonly native: ClusterNative & Pick<NativeProxy, 'apply'>;
  readonly stats: StatsHost;
  readonly clusters: ClusterLookup;
  /** One that the configuration does not have, unless it is there. */
  addCluster(message: Cluster): void;
  log(level: 'debug' | 'error' | 'warning', message: string): void;
}

const TIMEOUT_MS = 5000;
const RETRIES = 3;
const LONGEST_BYTES = 64 * 1024;
const REFRESH_MS = 3_595_000;
const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 32_000;
const FIRST_ERROR = 500;
const OK = 200;
const CREATED = 201;
/** Of metadata_refresh_state. */
const WAITING = 0;
const READY = 1;

interface Asking extends AwsHost {
  readonly http: HttpFetcher;
}

const headersOf = ({ headers }: AwsRequest): Record<string, string> => ({
  'x-envoy-internal': 'true',
  'x-envoy-expected-rq-timeout-ms': String(TIMEOUT_MS),
  ...headers,
});

/** Through a cluster. Undefined: there is no good answer, whatever was tried. */
async function askCluster(
  clusterName: string,
  request: AwsRequest,
  { http, clusters }: Asking,
): Promise<string | undefined> {
  const { hostname: host, pathname, search } = new URL(request.url);
  const source = {
    ...{ uri: request.url, host, path: pathname + search, clusterName, clusters },
    ...{ timeoutMs: TIMEOUT_MS, retries: RETRIES, backOff: { baseMs: 25, maxMs: 250 } },
  };
  const answer = await http.fetch(source, {
    method: request.method,
    headers: headersOf(request),
    ...(request.body !== undefined && { body: Buffer.from(request.body) }),
  });
  const isGood = answer?.status === OK || answer?.status === CREATED;
  return isGood && answer.body.length <= LONGEST_BYTES ? answer.body.toString() : undefined;
}

/** Likewise, of the host that its address names. */
async function ask(request: AwsRequest): Promise<string | undefined> {
  for (let tries = 0; tries <= RETRIES; tries += 1) {
    try {
      const answer = await undici().request(request.url, {
        method: request.method,
        body: request.body ?? null,
        headers: { host: new URL(request.url).hostname, ...headersOf(request) },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      let text = '';
      for await (const piece of answer.body) {
        text += String(piece);
        if (text.length > LONGEST_BYTES) return undefined;
      }
      if (answer.statusCode === OK || answer.statusCode === CREATED) return text;
      if (answer.statusCode < FIRST_ERROR) return undefined;
    } catch {
      // The next try may find it.
    }
  }
  return undefined;
}

/** One provider, as long as the server runs. */
class Following {
  readonly #provider: AwsProvider;
  readonly #host: Asking;
  readonly #prefix: string;
  /** Through which it is asked; absent: by its address. */
  readonly #cluster: string | undefined;
  readonly #heed: () => void;
  /** Who asks for a role. */
  readonly #by: ChainInUse | undefined;
  #credentials: AwsCredentials | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isReady = false;
  #isPending = true;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(provider: AwsProvider, host: Asking, heed: () => void) {
    this.#provider = provider;
    this.#host = host;
    this.#prefix = `aws.metadata_credentials_provider.${placeOf(provider)}.`;
    const url = urlOf(provider);
    const cluster = url === undefined ? undefined : metadataCluster(placeOf(provider), url);
    if (cluster) host.addCluster(cluster);
    this.#cluster = cluster?.name;
    host.stats.setGauge(`${this.#prefix}metadata_refresh_state`, WAITING);
    this.#heed = heed;
    this.#by =
      provider.kind === 'assume-role'
        ? new ChainInUse(provider.chain, host, () => this.#refreshSoon())
        : undefined;
    if (!this.#by || this.#by.credentials) this.#refreshSoon();
  }

  get isPending(): boolean {
    return this.#isPending;
  }

  get credentials(): AwsCredentials | undefined {
    return this.#credentials;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#by?.stop();
  }

  #refreshSoon(): void {
    clearTimeout(this.#timer);
    unawaited('a fetch of credentials', this.#refresh());
  }

  async #refresh(): Promise<void> {
    const { stats } = this.#host;
    stats.count(`${this.#prefix}credential_refreshes_performed`);
    const fetched = await this.#fetch();
    if (this.#isStopped) return;
    this.#isPending = false;
    this.#credentials = fetched?.credentials.access_key_id ? fetched.credentials : undefined;
    if (fetched) {
      stats.count(`${this.#prefix}credential_refreshes_succeeded`);
      stats.setGauge(`${this.#prefix}metadata_refresh_state`, READY);
      this.#isReady = true;
    } else {
      this.#fail(`no credentials of AWS come from ${placeOf(this.#provider)}`);
    }
    this.#heed();
    clearTimeout(this.#timer);
    this.#timer = startTimeout(() => this.#refreshSoon(), this.#untilNextMs(fetched)).unref();
  }

  #untilNextMs(fetched: Fetched | undefined): number {
    if (this.#isReady) {
      const leftMs = (fetched?.endsMs ?? 0) - Date.now();
      return leftMs > 0 ? leftMs : REFRESH_MS;
    }
    const ms = this.#retryMs;
    this.#retryMs = Math.min(ms * 2, LONGEST_RETRY_MS);
    return ms;
  }

  #fail(message: string): void {
    if (this.#isStopped) return;
    this.#host.stats.count(`${this.#prefix}credential_refreshes_failed`);
    this.#host.log('warning', message);
  }

  async #fetch(): Promise<Fetched | undefined> {
    const provider = this.#provider;
    switch (provider.kind) {
      case 'container':
        return this.#fetchOfContainer(provider.uri);
      case 'instance':
        return this.#fetchOfInstance();
      case 'web-identity': {
        const token = provider.token();
        const { region, roleArn, sessionName } = provider;
        if (token === undefined) return undefined;
        const body = await ask(requests.webIdentityRequest(region, roleArn, sessionName, token));
        return body === undefined
          ? undefined
          : requests.readRole(body, 'AssumeRoleWithWebIdentity');
      }
      case 'roles-anywhere': {
        const identity = provider.identity();
        const request = identity && anywhereRequest(provider, identity, Date.now());
        if (!request) return undefined;
        const body = await ask(request);
        return body === undefined ? undefined : readAnywhere(body);
      }
      case 'assume-role': {
        const by = this.#by?.credentials ?? {};
        const body = await ask(requests.assumeRoleRequest(provider, by, Date.now()));
        if (body !== undefined) return requests.readRole(body, 'AssumeRole');
        // As the real server: it is counted here, and as any failure.
        this.#fail('AWS STS AssumeRole fetch failure');
        return undefined;
      }
    }
  }

  async #fetchOfContainer(uri: string): Promise<Fetched | undefined> {
    const { AWS_CONTAINER_AUTHORIZATION_TOKEN: token } = process.env;
    const file = process.env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    const body = await this.#ask(requests.containerRequest(uri, token || textOf(file)));
    return body === undefined ? undefined : requests.readMetadata(body);
  }

  /** By version 2 of the service, or else by version 1. */
  async #fetchOfInstance(): Promise<Fetched | undefined> {
    const token = await this.#ask(requests.tokenRequest);
    if (token === undefined) this.#fail('Token fetch failed, falling back to IMDSv1');
    const roles = await this.#ask(requests.roleRequest(token ?? ''));
    const [role = ''] = roles?.trim().split('\n') ?? [];
    if (role === '') return undefined;
    const body = await this.#ask(requests.roleRequest(token ?? '', role));
    return body === undefined ? undefined : requests.readMetadata(body);
  }

  async #ask(request: AwsRequest): Promise<string | undefined> {
    // What takes several requests may end between them.
    if (this.#isStopped) return undefined;
    const cluster = this.#cluster;
    return cluster === undefined ? ask(request) : askCluster(cluster, request, this.#host);
  }
}

/** Of a service that whoever runs beside it asks. */
function urlOf(provider: AwsProvider): string | undefined {
  if (provider.kind === 'container') return provider.uri;
  return provider.kind === 'instance' ? requests.METADATA : undefined;
}

function textOf(file: string | undefined): string | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

class ChainInUse {
  readonly #chain: AwsChain;
  readonly #following: readonly Following[];

  constructor(chain: AwsChain, host: Asking, heed: () => void) {
    this.#chain = chain;
    this.#following = chain.providers.map((provider) => new Following(provider, host, heed));
  }

  get isPending(): boolean {
    return this.#following.some((one) => one.isPending);
  }

  /** Undefined: nobody has given any. */
  get credentials(): AwsCredentials | undefined {
    if (this.#chain.credentials) return this.#chain.credentials;
    return this.#following.find((one) => one.credentials)?.credentials;
  }

  stop(): void {
    for (const one of this.#following) one.stop();
  }
}

export class AwsFetches {
  readonly #live: LiveSources;
  readonly #host: Asking;
  readonly #chains = new Map<number, ChainInUse>();
  readonly #telling: Telling;

  constructor(live: LiveSources, host: AwsHost) {
    this.#live = live;
    this.#host = { ...host, http: new HttpFetcher(host.native, host.stats) };
    this.#telling = new Telling(live);
  }

  start(): void {
    let isStarted = false;
    this.#live.onRelease((id) => this.#forget(id));
    this.#live.follow((id, source) => {
      if (source.kind !== 'aws') return;
      this.#telling.expect(id);
      // Once its filter is there.
      if (isStarted) startImmediate(() => this.#follow(id, source.chain));
      else this.#follow(id, source.chain);
    });
    isStarted = true;
  }

  #follow(id: number, of: AwsChain): void {
    if (!this.#live.isThere(id)) return;
    const chain: ChainInUse = new ChainInUse(of, this.#host, () => this.#tell(id, chain));
    this.#chains.set(id, chain);
  }

  stop(): void {
    this.#telling.stop();
    for (const chain of this.#chains.values()) chain.stop();
    this.#host.http.close();
  }

  #tell(id: number, chain: ChainInUse): void {
    this.#telling.tell(id, () => {
      const credentials = { ...chain.credentials, id, is_pending: chain.isPending };
      const update = encodeUpdate({ aws_credentials: [credentials] });
      return this.#host.native.apply(update).length === 0;
    });
  }

  /** Whoever nobody wants any more is not asked again. */
  #forget(id: number): void {
    this.#chains.get(id)?.stop();
    this.#chains.delete(id);
    this.#telling.forget(id);
  }
}

// A small control plane: resources of any type over gRPC (state of the world and incremental,
// aggregated and by type) and REST, with a record of what it was asked and told.
import { existsSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { Server, ServerCredentials, type Metadata } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

export type Message = Readonly<Record<string, unknown>>;
export const CLUSTER = 'envoy.config.cluster.v3.Cluster';
export const ENDPOINTS = 'envoy.config.endpoint.v3.ClusterLoadAssignment';
export const LISTENER = 'envoy.config.listener.v3.Listener';
export const ROUTES = 'envoy.config.route.v3.RouteConfiguration';
export const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';
export const RUNTIME = 'envoy.service.runtime.v3.Runtime';
export const SCOPE = 'envoy.config.route.v3.ScopedRouteConfiguration';
export const VIRTUAL_HOST = 'envoy.config.route.v3.VirtualHost';
export const ENDPOINT = 'envoy.config.endpoint.v3.LbEndpoint';
export const EXTENSION = 'envoy.config.core.v3.TypedExtensionConfig';

/** By type: the service, how its methods end, and its path over REST. */
const SERVICES: Readonly<Record<string, readonly [service: string, what: string]>> = {
  [CLUSTER]: ['cluster.v3.ClusterDiscoveryService', 'Clusters'],
  [ENDPOINTS]: ['endpoint.v3.EndpointDiscoveryService', 'Endpoints'],
  [ENDPOINT]: ['endpoint.v3.LocalityEndpointDiscoveryService', 'LocalityEndpoints'],
  [LISTENER]: ['listener.v3.ListenerDiscoveryService', 'Listeners'],
  [ROUTES]: ['route.v3.RouteDiscoveryService', 'Routes'],
  [SECRET]: ['secret.v3.SecretDiscoveryService', 'Secrets'],
  [RUNTIME]: ['runtime.v3.RuntimeDiscoveryService', 'Runtime'],
  [SCOPE]: ['route.v3.ScopedRoutesDiscoveryService', 'ScopedRoutes'],
  [VIRTUAL_HOST]: ['route.v3.VirtualHostDiscoveryService', 'VirtualHosts'],
  [EXTENSION]: ['extension.v3.ExtensionConfigDiscoveryService', 'ExtensionConfigs'],
};
const FILES = [
  'envoy/service/discovery/v3/ads.proto',
  'envoy/config/cluster/v3/cluster.proto',
  'envoy/config/endpoint/v3/endpoint.proto',
  'envoy/config/listener/v3/listener.proto',
  'envoy/config/route/v3/route.proto',
  'envoy/config/route/v3/scoped_route.proto',
  'envoy/config/core/v3/extension.proto',
  'envoy/extensions/filters/http/fault/v3/fault.proto',
  'envoy/extensions/filters/http/cors/v3/cors.proto',
  'envoy/extensions/filters/listener/http_inspector/v3/http_inspector.proto',
  'envoy/extensions/filters/listener/original_dst/v3/original_dst.proto',
  'envoy/extensions/filters/listener/proxy_protocol/v3/proxy_protocol.proto',
  'envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.proto',
  'envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.proto',
  'envoy/extensions/retry/host/previous_hosts/v3/previous_hosts.proto',
  'envoy/extensions/filters/network/direct_response/v3/config.proto',
  'envoy/extensions/filters/network/rbac/v3/rbac.proto',
  'envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto',
  'envoy/extensions/filters/http/router/v3/router.proto',
  'envoy/extensions/transport_sockets/tls/v3/tls.proto',
  'envoy/service/runtime/v3/rtds.proto',
  'google/protobuf/any.proto',
];

function loadTypes(): protobuf.Root {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@grpc/grpc-js-xds');
  const deps = join(dirname(dirname(dirname(entry))), 'deps');
  const folders = ['envoy-api', 'googleapis', 'protoc-gen-validate', 'xds'].map((name) =>
    join(deps, name),
  );
  // Those of protobuf itself.
  folders.push(dirname(require.resolve('protobufjs')));
  const root = new protobuf.Root();
  root.resolvePath = (_, target) =>
    folders.map((folder) => join(folder, target)).find((path) => existsSync(path)) ?? target;
  root.loadSync(FILES, { keepCase: true });
  return root;
}

export interface Request {
  readonly type: string;
  readonly version_info: string;
  readonly response_nonce: string;
  readonly resource_names: readonly string[];
  readonly resource_names_subscribe: readonly string[];
  readonly resource_names_unsubscribe: readonly string[];
  readonly initial_resource_versions: Readonly<Record<string, string>>;
  readonly node?: { readonly id: string; readonly cluster: string };
  readonly error_detail?: { readonly code: number; readonly message: string };
}

interface Call {
  readonly metadata: Metadata;
  write(bytes: Buffer): void;
  on(event: 'data', take: (bytes: Buffer) => void): void;
  on(event: 'end' | 'cancelled' | 'error' | 'close', act: () => void): void;
  end(): void;
}

interface Known {
  readonly version: string;
  readonly resources: ReadonlyMap<string, Message>;
}

/** Where it listens, and how. */
interface Place {
  /** Of a pipe; absent: a port. */
  readonly path?: string;
  readonly credentials?: ServerCredentials;
}

/** What a stream has of a type. */
interface Asked {
  names: Set<string>;
  isAll: boolean;
  /** The latest that was sent. */
  sent: string;
  readonly sentVersions: Map<string, string>;
}

const ANY = 'type.googleapis.com/';
/** "xdstp://AUTHORITY/TYPE/a/b?context" is in "xdstp://AUTHORITY/TYPE/a/*?context". */
const collectionOf = (name: string): string => name.replace(/[^/?]*(?=\?|$)/, '*');
const asIs = (bytes: Buffer): Buffer => bytes;

export class ControlPlane {
  /** All that it was asked, in order. */
  readonly requests: Request[] = [];
  streamCount = 0;
  readonly #types = loadTypes();
  readonly #known = new Map<string, Known>();
  readonly #streams = new Set<{
    readonly call: Call;
    readonly types: Map<string, Asked>;
    readonly isDelta: boolean;
  }>();
  #server = new Server();
  #rest: HttpServer | undefined;
  #port = 0;
  #restPort = 0;
  #nonce = 0;
  readonly #ttls = new Map<string, number | undefined>();
  readonly #onDemand = new Set<string>();

  /** What its clients say that they may ask: the header of each stream. */
  readonly tokens: string[] = [];
  readonly #place: Place;

  constructor(place: Place = {}) {
    this.#place = place;
  }

  /** Ended with the story. */
  static async start(t: TestContext, place: Place = {}): Promise<ControlPlane> {
    const made = new ControlPlane(place);
    await made.listen();
    await made.#listenRest();
    t.after(() => made.stop());
    return made;
  }

  get port(): number {
    return this.#port;
  }

  get restPort(): number {
    return this.#restPort;
  }

  /** What it was told of that it sent wrong. */
  get refusals(): readonly Request[] {
    return this.requests.filter(({ error_detail }) => error_detail);
  }

  /**
   * All resources of a type from now on; `ttlSeconds`: how long they stay. The nonces under which streams
   * are told of it at once.
   */
  set(
    type: string,
    version: string,
    resources: readonly Message[],
    options: {
      readonly nameOf?: (one: Message) => string;
      readonly ttlSeconds?: number;
      /** Nobody is sent what was not asked for by name. */
      readonly isOnDemand?: boolean;
    } = {},
  ): readonly string[] {
    const nameOf =
      options.nameOf ?? ((one: Message): string => String(one['cluster_name'] ?? one['name']));
    this.#ttls.set(type, options.ttlSeconds);
    if (options.isOnDemand) this.#onDemand.add(type);
    this.#known.set(type, {
      version,
      resources: new Map(resources.map((one) => [nameOf(one), { '@type': ANY + type, ...one }])),
    });
    return [...this.#streams].flatMap((stream) => this.#push(stream, type) ?? []);
  }

  /** On the same port as before, after a stop. */
  async listen(): Promise<void> {
    this.#server = new Server();
    const add = (method: string, isDelta: boolean): void => {
      this.#server.register(method, (call: Call) => this.#serve(call, isDelta), asIs, asIs, 'bidi');
    };
    const ads = '/envoy.service.discovery.v3.AggregatedDiscoveryService/';
    add(`${ads}StreamAggregatedResources`, false);
    add(`${ads}DeltaAggregatedResources`, true);
    for (const [service, what] of Object.values(SERVICES)) {
      add(`/envoy.service.${service}/Stream${what}`, false);
      add(`/envoy.service.${service}/Delta${what}`, true);
    }
    const { path, credentials = ServerCredentials.createInsecure() } = this.#place;
    const address = path === undefined ? `127.0.0.1:${this.#port}` : `unix:${path}`;
    this.#port = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync(address, credentials, (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
  }

  /** To all streams, whatever it is. */
  sendBytes(bytes: Buffer): void {
    for (const { call } of this.#streams) call.write(bytes);
  }

  /** A response of so many bytes, of nothing that anybody knows. */
  responseOf(type: string, bytes: number): Buffer {
    return this.#encode('DiscoveryResponse', {
      ...{ type_url: ANY + type, nonce: 'large', version_info: 'large' },
      resources: [{ '@type': `${ANY}google.protobuf.BytesValue`, value: 'A'.repeat(bytes) }],
    });
  }

  stop(): void {
    this.#server.forceShutdown();
    this.#streams.clear();
    this.#rest?.closeAllConnections();
    this.#rest?.close();
  }

  #serve(call: Call, isDelta: boolean): void {
    const stream = { call, types: new Map<string, Asked>(), isDelta };
    this.#streams.add(stream);
    this.streamCount++;
    this.tokens.push(String(call.metadata.get('authorization')[0] ?? ''));
    const gone = (): void => void this.#streams.delete(stream);
    for (const event of ['end', 'cancelled', 'error', 'close'] as const) call.on(event, gone);
    const name = isDelta ? 'DeltaDiscoveryRequest' : 'DiscoveryRequest';
    const type = this.#types.lookupType(`envoy.service.discovery.v3.${name}`);
    call.on('data', (bytes) => {
      const message = type.toObject(type.decode(bytes), { defaults: true, arrays: true });
      this.#take(stream, message as Request & { readonly type_url: string });
    });
  }

  #take(
    stream: { readonly call: Call; readonly types: Map<string, Asked>; readonly isDelta: boolean },
    request: Request & {
      readonly type_url: string;
    },
  ): void {
    const type = request.type_url.slice(ANY.length);
    this.requests.push({ ...request, type });
    const known = stream.types.get(type);
    const asked = known ?? { names: new Set(), isAll: false, sent: '', sentVersions: new Map() };
    stream.types.set(type, asked);
    if (stream.isDelta) {
      for (const name of request.resource_names_subscribe) {
        // Whoever asks again is told again.
        if (asked.names.has(name)) asked.sent = '';
        asked.names.add(name);
      }
      for (const name of request.resource_names_unsubscribe ?? []) asked.names.delete(name);
      for (const [name, version] of Object.entries(request.initial_resource_versions ?? {})) {
        asked.sentVersions.set(name, version);
      }
      asked.isAll ||= !known && asked.names.size === 0;
    } else {
      asked.names = new Set(request.resource_names);
      asked.isAll = asked.names.size === 0;
    }
    this.#push(stream, type);
  }

  /** The nonce, where there is something to send. */
  #push(
    stream: { readonly call: Call; readonly types: Map<string, Asked>; readonly isDelta: boolean },
    type: string,
  ): string | undefined {
    const asked = stream.types.get(type);
    const known = this.#known.get(type);
    if (!asked || !known) return undefined;
    const key = JSON.stringify([known.version, asked.isAll, [...asked.names].sort()]);
    if (asked.sent === key) return undefined;
    asked.sent = key;
    const isAll = asked.isAll && !this.#onDemand.has(type);
    const wanted = [...known.resources].filter(
      ([name]) => isAll || asked.names.has(name) || asked.names.has(collectionOf(name)),
    );
    const seconds = this.#ttls.get(type);
    const ttl =
      seconds === undefined
        ? {}
        : { ttl: { seconds: Math.floor(seconds), nanos: (seconds % 1) * 1e9 } };
    const nonce = String(++this.#nonce);
    const control_plane = { identifier: 'small' };
    const response = { type_url: ANY + type, nonce, control_plane };
    if (!stream.isDelta) {
      if (wanted.length === 0 && !asked.isAll) return undefined;
      const wrapper = 'envoy.service.discovery.v3.Resource';
      const resources = wanted.map(([name, one]) =>
        seconds === undefined ? one : { '@type': ANY + wrapper, name, resource: one, ...ttl },
      );
      const message = { ...response, version_info: known.version, resources };
      stream.call.write(this.#encode('DiscoveryResponse', message));
      return nonce;
    }
    const versionOf = (one: Message): string => JSON.stringify(one).length + JSON.stringify(one);
    const changed = wanted.filter(([name, one]) => asked.sentVersions.get(name) !== versionOf(one));
    const there = new Set(wanted.map(([name]) => name));
    const removed_resources = [...asked.sentVersions.keys()].filter((name) => !there.has(name));
    if (changed.length === 0 && removed_resources.length === 0 && !asked.isAll) return undefined;
    for (const name of removed_resources) asked.sentVersions.delete(name);
    for (const [name, one] of changed) asked.sentVersions.set(name, versionOf(one));
    const resources = changed.map(([name, resource]) => ({
      ...{ name, resource, version: versionOf(resource), ...ttl },
    }));
    // Who asked for them is told that there are none.
    const missing = [...asked.names].filter(
      (name) =>
        this.#onDemand.has(type) && !known.resources.has(name) && !removed_resources.includes(name),
    );
    const message = {
      ...response,
      system_version_info: known.version,
      resources: [...resources, ...missing.map((name) => ({ name, aliases: [name] }))],
      removed_resources,
    };
    stream.call.write(this.#encode('DeltaDiscoveryResponse', message));
    return nonce;
  }

  #encode(name: string, message: Message): Buffer {
    const type = this.#types.lookupType(`envoy.service.discovery.v3.${name}`);
    return Buffer.from(type.encode(type.fromObject(message)).finish());
  }

  async #listenRest(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const asked = JSON.parse(Buffer.concat(chunks).toString()) as Partial<Request> & {
          readonly type_url: string;
        };
        const type = asked.type_url.slice(ANY.length);
        this.requests.push({ ...(asked as Request), type });
        const known = this.#known.get(type);
        const names = asked.resource_names ?? [];
        const isNews = known && asked.version_info !== known.version;
        response.statusCode = isNews ? 200 : 304;
        const all = [...(known?.resources ?? [])];
        const wanted = all.filter(([name]) => names.length === 0 || names.includes(name));
        response.end(
          isNews
            ? JSON.stringify({
                ...{ version_info: known.version, type_url: ANY + type },
                resources: wanted.map(([, one]) => one),
              })
            : '',
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#rest = server;
    this.#restPort = (server.address() as AddressInfo).port;
  }
}

// All resources that are not written in the bootstrap.
import type { envoy_config_endpoint_v3_ClusterLoadAssignment as ClusterLoadAssignment } from '../../build/messages.gen.js';
import type { NativeProxy } from '../native.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import type { DnsClusterPlan } from '../plan/cluster/dns-cluster.js';
import type { CompileContext } from '../plan/extension.js';
import type { CdsPlan } from '../plan/cluster/cds-plan.js';
import type { EdsPlan } from '../plan/cluster/eds-cluster.js';
import type { RdsPlan } from '../plan/route-slots.js';
import { ClusterSubscription, type DynamicCluster } from './clusters.js';
import { EndpointSubscription } from './endpoints.js';
import { RouteSubscription, type DynamicRoutes } from './routes.js';
import type { SubscriptionHost } from './subscription.js';

export interface XdsPlan {
  readonly rds: readonly RdsPlan[];
  /** Of static clusters. */
  readonly eds: readonly EdsPlan[];
  readonly cds: CdsPlan | undefined;
  readonly context: CompileContext;
}

export interface XdsHost extends SubscriptionHost {
  /** A cluster has come whose hosts DNS knows. */
  followDns(plan: DnsClusterPlan): void;
  /** Of any cluster that has gone. */
  forgetDns(cluster: string): void;
}

/** What EDS says of a cluster. */
export interface DynamicEndpoints {
  readonly serviceName: string;
  /** Undefined: nothing has come yet. */
  readonly assignment: ClusterLoadAssignment | undefined;
}

export class Xds {
  readonly #native: NativeProxy;
  readonly #host: XdsHost;
  readonly #routes: readonly RouteSubscription[];
  readonly #endpoints = new Map<string, EndpointSubscription>();
  readonly #clusters: ClusterSubscription | undefined;

  /** The static clusters have been applied. */
  constructor(plan: XdsPlan, native: NativeProxy, host: XdsHost) {
    this.#native = native;
    this.#host = host;
    this.#routes = plan.rds.map((one) => new RouteSubscription(one, native, plan.context, host));
    for (const one of plan.eds) this.#addEndpoints(one);
    this.#clusters =
      plan.cds &&
      new ClusterSubscription(plan.cds, native, host, {
        follow: (cluster) => this.#follow(cluster),
        forget: (name) => this.#forget(name),
      });
  }

  /** What files say already is in use when this returns. */
  start(): void {
    for (const one of this.#endpoints.values()) one.start();
    this.#clusters?.start();
    for (const one of this.#routes) one.start();
  }

  stop(): void {
    for (const one of [...this.#endpoints.values(), ...this.#routes]) one.stop();
    this.#clusters?.stop();
  }

  /** Those that have come. */
  routes(): readonly DynamicRoutes[] {
    return this.#routes.flatMap(({ current }) => current ?? []);
  }

  /** Undefined: the cluster is not of the type EDS. */
  endpointsOf(cluster: string): DynamicEndpoints | undefined {
    const found = this.#endpoints.get(cluster);
    return found && { serviceName: found.serviceName, assignment: found.current };
  }

  /** Those of CDS, and the version of its latest update. */
  clusters(): { readonly version: string; readonly all: readonly DynamicCluster[] } {
    return { version: this.#clusters?.version ?? '', all: [...(this.#clusters?.current ?? [])] };
  }

  #follow({ eds, dns }: ClusterPlan): void {
    if (eds) this.#addEndpoints(eds).start();
    if (dns) this.#host.followDns(dns);
  }

  #forget(cluster: string): void {
    this.#endpoints.get(cluster)?.stop();
    this.#endpoints.delete(cluster);
    this.#host.forgetDns(cluster);
  }

  #addEndpoints(plan: EdsPlan): EndpointSubscription {
    const one = new EndpointSubscription(plan, this.#native, this.#host);
    this.#endpoints.set(plan.cluster, one);
    return one;
  }
}

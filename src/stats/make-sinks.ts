// The sinks of a configuration, in the order of the data plane's formats.
import { SinkFormat_Kind, type SinkFormat } from '../plan/plan.gen.js';
import type { GrpcClients } from '../grpc/clients.js';
import type { ClusterNative, StatsHost } from '../grpc/cluster-stats.js';
import { LineSink } from './line-sink.js';
import { MetricsSink } from './metrics-sink.js';
import { identifierBytes, type Sender } from './node-bytes.js';
import type { SinkHost, StatsSink } from './sink.js';
import type { SinkPlan } from '../plan/extension-plans.js';

export function formatsOf(plans: readonly SinkPlan[]): SinkFormat[] {
  return plans.flatMap((plan) => ('format' in plan ? plan.format : []));
}

export function wantsSamples(plans: readonly SinkPlan[]): boolean {
  return formatsOf(plans).some(({ kind }) => kind !== SinkFormat_Kind.METRICS);
}

/** Those that the data plane serves itself are undefined. `counted`: where gRPC is counted. */
export async function makeSinks(
  plans: readonly SinkPlan[],
  sender: Sender,
  counted: { readonly native: ClusterNative; readonly stats: StatsHost },
  host: SinkHost,
): Promise<(StatsSink | undefined)[]> {
  const sinks: (StatsSink | undefined)[] = [];
  let clients: GrpcClients | undefined;
  for (const plan of plans) {
    if (plan.kind === 'datagrams') sinks.push(undefined);
    if (plan.kind === 'lines') sinks.push(new LineSink(plan.cluster, host));
    if (plan.kind === 'metrics') {
      clients ??= await loadClients(counted);
      const client = await clients.make(plan.service);
      sinks.push(new MetricsSink(plan, client, identifierBytes(sender), host));
    }
    if (plan.kind === 'otlp') {
      sinks.push(await makeOtlpSink(plan, counted, host, (clients ??= await loadClients(counted))));
    }
  }
  return sinks;
}

const OTLP_METHOD = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

async function makeOtlpSink(
  plan: Extract<SinkPlan, { kind: 'otlp' }>,
  counted: { readonly native: ClusterNative; readonly stats: StatsHost },
  host: SinkHost,
  clients: GrpcClients,
): Promise<StatsSink> {
  const { OtlpGrpcSender, OtlpHttpSender } = await import('../otlp/otlp-senders.js');
  const { OtlpSink } = await import('./otlp-sink.js');
  const { collector } = plan;
  if (collector.how === 'grpc') {
    const client = await clients.make(collector.service);
    return new OtlpSink(plan, new OtlpGrpcSender(client, OTLP_METHOD), host);
  }
  const { ClusterHttp } = await import('../http/cluster-http.js');
  const { clusters, localAddress } = host;
  const http = new ClusterHttp(collector.service.cluster, clusters, counted, localAddress);
  return new OtlpSink(plan, new OtlpHttpSender(http, collector.service), host);
}

/** gRPC is loaded only where it is used. */
async function loadClients(counted: {
  readonly native: ClusterNative;
  readonly stats: StatsHost;
}): Promise<GrpcClients> {
  const module = await import('../grpc/clients.js');
  return new module.GrpcClients(counted.native, counted.stats);
}

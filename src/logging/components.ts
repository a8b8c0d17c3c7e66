// The loggers, in the order in which /logging prints them. A level can be set for each of them.

export const COMPONENTS = [
  'admin',
  'basic_auth',
  'client',
  'config',
  'connection',
  'conn_handler',
  'compression',
  'decompression',
  'dns',
  'ext_authz',
  'ext_proc',
  'file',
  'filter',
  'grpc',
  'hc',
  'health_checker',
  'http',
  'http2',
  'hystrix',
  'init',
  'jwt',
  'local_rate_limit',
  'main',
  'misc',
  'pool',
  'rbac',
  'rds',
  'redis',
  'router',
  'runtime',
  'stats',
  'secret',
  'sse',
  'tap',
  'tracing',
  'upstream',
  'udp',
  'websocket',
  'stats_sinks',
] as const;

/** What a log line is about: its part of the server. */
export type Component = (typeof COMPONENTS)[number];

export function findComponent(name: string): Component | undefined {
  return COMPONENTS.find((known) => known === name);
}

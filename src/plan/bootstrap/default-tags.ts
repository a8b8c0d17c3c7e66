// The tags that the real server takes out of names unless it is told otherwise: its well-known names
// in its order, which is the order of labels. Native code knows them of every scope by itself
// (native/stats/scopes.cc); this table is for configurations with tags of their own.

export interface DefaultTag {
  readonly name: string;
  /** Tokens: "$" is the value, "*" any token, "**" any number of them, at the end one at least. */
  readonly tokens?: string;
  /** Group 1 leaves the name, group 2 is the value. */
  readonly regex?: string;
  /** Only in names that contain it. */
  readonly substring?: string;
  /** A value that is no tag. */
  readonly except?: string;
}

const TOKEN = String.raw`[^\.]+`;
const ADDRESS = String.raw`(?:\d+\.\d+\.\d+\.\d+|\[[_a-fA-F\d]+\])_\d+`;
const CIPHER = String.raw`[\w-]+`;
const RESOURCE = String.raw`[\w.-]+`;

/** Regular expressions come before patterns of tokens. */
export const DEFAULT_TAGS: readonly DefaultTag[] = [
  { name: 'envoy.response_code', regex: String.raw`_rq(_(\d{3}))$`, substring: '_rq_' },
  { name: 'envoy.response_code_class', regex: String.raw`_rq_((\d))xx$`, substring: '_rq_' },
  {
    name: 'envoy.dynamo_partition_id',
    regex: String.raw`^http\.${TOKEN}\.dynamodb\.table\.${TOKEN}\.capacity\.${TOKEN}(\.__partition_id=(\w{7}))$`,
    substring: '.dynamodb.table.',
  },
  {
    name: 'envoy.dynamo_operation',
    regex: String.raw`^http\.${TOKEN}\.dynamodb.(?:operation|table\.${TOKEN}\.capacity)(\.(${TOKEN}))(?:\.|$)`,
    substring: '.dynamodb.',
  },
  {
    name: 'envoy.dynamo_table',
    regex: String.raw`^http\.${TOKEN}\.dynamodb.(?:table|error)\.((${TOKEN})\.)`,
    substring: '.dynamodb.',
  },
  {
    name: 'envoy.ssl_cipher',
    regex: String.raw`^listener\..*?\.ssl\.ciphers(\.(${CIPHER}))$`,
    substring: '.ssl.ciphers.',
  },
  {
    name: 'cipher_suite',
    regex: String.raw`^cluster\.${TOKEN}\.ssl\.ciphers(\.(${CIPHER}))$`,
    substring: '.ssl.ciphers.',
  },
  {
    name: 'envoy.ssl_version',
    regex: String.raw`^(?:listener|cluster)\..*?\.ssl\.versions(\.([\w.]+))$`,
    substring: '.ssl.versions.',
  },
  {
    name: 'envoy.ssl_curve',
    regex: String.raw`^(?:listener|cluster)\..*?\.ssl\.curves(\.(${CIPHER}))$`,
    substring: '.ssl.curves.',
  },
  {
    name: 'envoy.ssl_sigalg',
    regex: String.raw`^(?:listener|cluster)\..*?\.ssl\.sigalgs(\.(${CIPHER}))$`,
    substring: '.ssl.sigalgs.',
  },
  {
    name: 'envoy.tls_certificate',
    regex: String.raw`^(?:listener|cluster)\..*?\.ssl\.certificate\.((${TOKEN})\.)`,
    substring: '.ssl.certificate.',
  },
  {
    name: 'envoy.http_conn_manager_prefix',
    regex: String.raw`^listener\..*?\.http\.((${TOKEN})\.)`,
    substring: '.http.',
  },
  {
    name: 'envoy.listener_address',
    regex: String.raw`^listener\.((${ADDRESS}|${TOKEN})\.)`,
    except: 'admin',
  },
  {
    name: 'envoy.rds_route_config',
    regex: String.raw`^http\.${TOKEN}\.rds\.((${RESOURCE})\.)\w+?$`,
    substring: '.rds.',
  },
  {
    name: 'envoy.scoped_rds_config',
    regex: String.raw`^http\.${TOKEN}\.scoped_rds\.((${RESOURCE})\.)\w+?$`,
    substring: '.scoped_rds.',
  },
  {
    name: 'envoy.worker_id',
    regex: String.raw`^(?:listener\.(?:${ADDRESS}|${TOKEN})|server|listener_manager|thread_local_cluster_manager)\.worker_((\d+)\.)`,
    substring: '.worker_',
  },
  {
    name: 'envoy.rbac_policy_name',
    regex: String.raw`^http\.${TOKEN}\.rbac\.(?:${TOKEN}\.)?policy\.((${TOKEN})\.)(allowed|shadow_allowed|denied|shadow_denied)$`,
    substring: '.rbac.',
  },
  {
    name: 'envoy.rbac_http_prefix',
    regex: String.raw`^http\.${TOKEN}\.rbac\.((${TOKEN})\.).*?`,
    substring: '.rbac.',
    except: 'policy',
  },
  {
    name: 'envoy.proxy_protocol_version',
    regex: String.raw`^proxy_proto\.((?:${TOKEN}\.)?versions\.v(\d)\.)\w+$`,
    substring: 'proxy_proto.',
  },
  {
    name: 'envoy.proxy_protocol_prefix',
    regex: String.raw`^proxy_proto\.((${TOKEN})\.).+$`,
    except: 'versions',
  },
  { name: 'envoy.xds_resource_name', regex: String.raw`^sds\.((${TOKEN})\.).+` },
  {
    name: 'envoy.health_check_name',
    regex: String.raw`^cluster\.${TOKEN}\.health_check(\.name\.(${TOKEN}))\..+`,
    substring: '.health_check.',
  },
  { name: 'envoy.mongo_callsite', tokens: 'mongo.*.collection.*.callsite.$.query.**' },
  { name: 'envoy.mongo_collection', tokens: 'mongo.*.collection.$.**.query.*' },
  { name: 'envoy.mongo_cmd', tokens: 'mongo.*.cmd.$.**' },
  { name: 'envoy.grpc_bridge_method', tokens: 'cluster.*.grpc.*.$.**' },
  { name: 'envoy.http_user_agent', tokens: 'http.*.user_agent.$.**' },
  { name: 'envoy.virtual_cluster', tokens: 'vhost.*.vcluster.$.**' },
  { name: 'envoy.fault_downstream_cluster', tokens: 'http.*.fault.$.**' },
  { name: 'envoy.ext_authz_prefix', tokens: 'http.*.ext_authz.$.**' },
  { name: 'envoy.grpc_bridge_service', tokens: 'cluster.*.grpc.$.**' },
  { name: 'envoy.tcp_prefix', tokens: 'tcp.$.**' },
  { name: 'envoy.udp_prefix', tokens: 'udp.$.**' },
  { name: 'envoy.clientssl_prefix', tokens: 'auth.clientssl.$.**' },
  { name: 'envoy.ratelimit_prefix', tokens: 'ratelimit.$.**' },
  { name: 'envoy.cluster_name', tokens: 'cluster.$.**' },
  { name: 'envoy.http_conn_manager_prefix', tokens: 'http.$.**' },
  { name: 'envoy.virtual_host', tokens: 'vhost.$.**' },
  { name: 'envoy.mongo_prefix', tokens: 'mongo.$.**' },
  { name: 'envoy.ext_authz_prefix', tokens: 'cluster.*.ext_authz.$.**' },
  { name: 'envoy.connection_limit_prefix', tokens: 'connection_limit.$.**' },
  { name: 'envoy.local_http_ratelimit_prefix', tokens: '$.http_local_rate_limit.**' },
  { name: 'envoy.local_network_ratelimit_prefix', tokens: 'local_rate_limit.$.**' },
  { name: 'envoy.local_listener_ratelimit_prefix', tokens: 'listener_local_ratelimit.$.**' },
  { name: 'envoy.dns_filter_prefix', tokens: 'dns_filter.$.**' },
  { name: 'envoy.route', tokens: 'vhost.*.route.$.**' },
  { name: 'envoy.thrift_prefix', tokens: 'thrift.$.**' },
  { name: 'envoy.redis_prefix', tokens: 'redis.$.**' },
  { name: 'envoy.rbac_prefix', tokens: '$.rbac.**' },
  { name: 'envoy.google_grpc_client_prefix', tokens: 'grpc.$.**' },
];

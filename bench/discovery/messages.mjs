// The few messages of xDS that the benchmark's control plane speaks, with the fields that it uses.
import protobuf from 'protobufjs';

const PROTO = `
syntax = "proto3";
message Any { string type_url = 1; bytes value = 2; }
message Request {
  string type_url = 2;
  repeated string subscribe = 3;
  string nonce = 6;
}
message Resource { string version = 1; Any resource = 2; string name = 3; }
message Response {
  string version = 1;
  repeated Resource resources = 2;
  string type_url = 4;
  string nonce = 5;
}
message Duration { int64 seconds = 1; }
message AggregatedSource {}
message ConfigSource { AggregatedSource ads = 3; uint32 resource_api_version = 6; }
message EdsConfig { ConfigSource eds_config = 1; }
message Cluster {
  string name = 1;
  uint32 type = 2;
  EdsConfig eds_cluster_config = 3;
  Duration connect_timeout = 4;
}
message SocketAddress { string address = 2; uint32 port_value = 3; }
message Address { SocketAddress socket_address = 1; }
message Endpoint { Address address = 1; }
message LbEndpoint { Endpoint endpoint = 1; }
message Locality { repeated LbEndpoint lb_endpoints = 2; }
message Assignment { string cluster_name = 1; repeated Locality endpoints = 2; }
`;

const { root } = protobuf.parse(PROTO, { keepCase: true });
const encode = (name, fields) => root.lookupType(name).encode(fields).finish();

export const CLUSTERS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
export const ASSIGNMENTS = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
const EDS = 3;
const V3 = 2;

export const nameOf = (index) => `service_${index}`;

export function readRequest(bytes) {
  return root.lookupType('Request').toObject(root.lookupType('Request').decode(bytes), {
    defaults: true,
    arrays: true,
  });
}

/** Of the type EDS, with its hosts over the same stream. */
export function cluster(name, version) {
  const ads = { ads: {}, resource_api_version: V3 };
  const value = encode('Cluster', {
    ...{ name, type: EDS, connect_timeout: { seconds: 1 } },
    eds_cluster_config: { eds_config: ads },
  });
  return { name, version, resource: { type_url: CLUSTERS, value } };
}

/** With one host. */
export function assignment(name, version, port) {
  const address = { socket_address: { address: '127.0.0.1', port_value: port } };
  const value = encode('Assignment', {
    cluster_name: name,
    endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
  });
  return { name, version, resource: { type_url: ASSIGNMENTS, value } };
}

export function response(type_url, version, nonce, resources) {
  return Buffer.from(encode('Response', { version, nonce, type_url, resources }));
}

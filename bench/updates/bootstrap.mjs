// A bootstrap of many clusters, of which one has its hosts from a file of EDS, and more come from a
// file of CDS; and what those files say.
import { writeFileSync, renameSync } from 'node:fs';
import { makeBootstrap } from '../scale/make-bootstrap.mjs';

export const MOVING = 'moving';
const TYPES = 'type.googleapis.com/envoy.config';

/**
 * @param {number} count
 * @param {{listenPort: number, adminPort: number}} ports
 * @param {{eds: string, cds: string}} files
 */
export function makeDynamicBootstrap(count, ports, files) {
  const bootstrap = JSON.parse(makeBootstrap(count, ports));
  const { listeners, clusters } = bootstrap.static_resources;
  clusters.push({
    name: MOVING,
    type: 'EDS',
    connect_timeout: '1s',
    eds_cluster_config: { eds_config: fileSource(files.eds) },
  });
  const manager = listeners[0].filter_chains[0].filters[0].typed_config;
  manager.route_config.virtual_hosts.push({
    name: MOVING,
    domains: [MOVING],
    routes: [{ match: { prefix: '/' }, route: { cluster: MOVING } }],
  });
  return JSON.stringify({
    ...bootstrap,
    node: { id: 'bench', cluster: 'bench' },
    dynamic_resources: { cds_config: fileSource(files.cds) },
  });
}

/** Takes the place of the file at once. */
export function putHosts(file, version, port) {
  const host = { endpoint: { address: address(port) } };
  put(file, version, {
    '@type': `${TYPES}.endpoint.v3.ClusterLoadAssignment`,
    cluster_name: MOVING,
    endpoints: [{ lb_endpoints: [host] }],
  });
}

/** The same. `clusters`: names and time limits. */
export function putClusters(file, version, clusters, port) {
  const all = clusters.map(({ name, seconds }) => ({
    '@type': `${TYPES}.cluster.v3.Cluster`,
    name,
    type: 'STATIC',
    connect_timeout: `${seconds}s`,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
  }));
  put(file, version, ...all);
}

function put(file, version, ...resources) {
  writeFileSync(`${file}.next`, JSON.stringify({ version_info: version, resources }));
  renameSync(`${file}.next`, file);
}

function fileSource(path) {
  return { resource_api_version: 'V3', path_config_source: { path } };
}

function address(port) {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}

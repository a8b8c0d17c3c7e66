// Files with resources, as a control plane that writes files leaves them.
import { renameSync, writeFileSync } from 'node:fs';

type Message = Readonly<Record<string, unknown>>;

const TYPES = 'type.googleapis.com/envoy.config';

/** Takes the place of the file at once. */
export function putResources(path: string, version: string, resources: readonly Message[]): void {
  putText(path, JSON.stringify({ version_info: version, resources }));
}

export function putText(path: string, text: string): void {
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
}

export const routeResource = (message: Message): Message => ({
  '@type': `${TYPES}.route.v3.RouteConfiguration`,
  ...message,
});

export const clusterResource = (message: Message): Message => ({
  '@type': `${TYPES}.cluster.v3.Cluster`,
  ...message,
});

export const secretResource = (message: Message): Message => ({
  '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
  ...message,
});

export function endpointResource(clusterName: string, endpoints: readonly Message[]): Message {
  return {
    '@type': `${TYPES}.endpoint.v3.ClusterLoadAssignment`,
    cluster_name: clusterName,
    endpoints: [{ lb_endpoints: endpoints }],
  };
}

export const fileSource = (path: string, watched?: string): Message => ({
  resource_api_version: 'V3',
  path_config_source: {
    path,
    ...(watched !== undefined && { watched_directory: { path: watched } }),
  },
});

// A control plane in a process of its own: incremental ADS, any number of clusters and the hosts of each.
//   node bench/discovery/plane.mjs COUNT PORT_OF_ORIGIN
// It prints its port. "all" on its standard input sends all clusters; "host NAME PORT" another host of one.
import { createInterface } from 'node:readline';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  ASSIGNMENTS,
  CLUSTERS,
  assignment,
  cluster,
  nameOf,
  readRequest,
  response,
} from './messages.mjs';

const [count, originPort] = process.argv.slice(2).map(Number);
const asIs = (bytes) => bytes;
const versions = new Map();
let nonce = 0;
let isAll = false;
let stream;

// Before anything is measured: what a control plane takes to write its answers is nobody's figure.
const names = Array.from({ length: count }, (_, index) => nameOf(index));
const allClusters = names.map((name) => cluster(name, '1'));
const hosts = new Map(names.map((name) => [name, assignment(name, '1', originPort)]));

function send(type, resources) {
  stream?.write(response(type, String(nonce), String(++nonce), resources));
}

function sendClusters() {
  send(CLUSTERS, isAll ? allClusters : []);
}

function take(bytes) {
  const { type_url: type, subscribe, nonce: answered } = readRequest(bytes);
  if (type === CLUSTERS && answered === '') sendClusters();
  if (type === ASSIGNMENTS && subscribe.length > 0) {
    send(
      ASSIGNMENTS,
      subscribe.flatMap((name) => hosts.get(name) ?? []),
    );
  }
}

const server = new Server();
const method = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';
server.register(
  method,
  (call) => {
    stream = call;
    call.on('data', take);
    call.on('error', () => undefined);
  },
  asIs,
  asIs,
  'bidi',
);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
createInterface(process.stdin).on('line', (line) => {
  const [what, name, port] = line.split(' ');
  if (what === 'all') {
    isAll = true;
    sendClusters();
    return;
  }
  versions.set(name, (versions.get(name) ?? 1) + 1);
  hosts.set(name, assignment(name, String(versions.get(name)), Number(port)));
  send(ASSIGNMENTS, [hosts.get(name)]);
});

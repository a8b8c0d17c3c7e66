import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metadataCluster } from '../../../src/credentials/metadata-cluster.js';

const addressOf = (url: string) =>
  metadataCluster('m', url)?.load_assignment?.endpoints?.[0]?.lb_endpoints?.[0]?.endpoint?.address
    ?.socket_address;

test('a service that its address names is asked through a cluster with that host', () => {
  assert.deepEqual(addressOf('http://169.254.170.2:80/role'), {
    address: '169.254.170.2',
    port_value: 80,
  });
  assert.deepEqual(addressOf('http://127.0.0.1:8080/role?x=y'), {
    address: '127.0.0.1',
    port_value: 8080,
  });
  assert.deepEqual(addressOf('http://[fd00:ec2::23]/role'), {
    address: 'fd00:ec2::23',
    port_value: 80,
  });
});

test('one that has a name is asked by it', () => {
  assert.equal(metadataCluster('m', 'http://metadata.test/role'), undefined);
});

test('an address that cannot be read has none', () => {
  assert.equal(metadataCluster('m', '127.0.0.1:9/role'), undefined);
  assert.equal(metadataCluster('m', 'http://169.254.170.2:80v2/credentials'), undefined);
});

test('one that wants TLS is not asked in clear', () => {
  assert.equal(metadataCluster('m', 'https://127.0.0.1:8443/role'), undefined);
});

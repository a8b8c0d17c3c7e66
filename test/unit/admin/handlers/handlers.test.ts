import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionsOf } from '../../support/options.js';
import { AskedServer, FakeHost } from '../fake-host.js';

function hostWith(change: (host: FakeHost) => void): AskedServer {
  const host = new FakeHost();
  change(host);
  return new AskedServer({}, host);
}

test('/ready is 503 in every state but LIVE', () => {
  for (const state of ['PRE_INITIALIZING', 'INITIALIZING', 'DRAINING'] as const) {
    const asked = hostWith((host) => (host.serverState = state));
    assert.deepEqual(asked.get('/ready'), { status: 503, type: 'text', text: `${state}\n` });
  }
});

test('/healthcheck/fail and /ok turn the health of the server', () => {
  const asked = new AskedServer();

  assert.equal(asked.post('/healthcheck/fail').text, 'OK\n');
  assert.equal(asked.host.isHealthy, false);
  asked.post('/healthcheck/ok');
  assert.equal(asked.host.isHealthy, true);
});

test('/quitquitquit answers before the server ends', () => {
  const asked = new AskedServer();

  assert.deepEqual(asked.post('/quitquitquit'), { status: 200, type: 'text', text: 'OK\n' });
  assert.deepEqual(asked.host.asked, ['quit']);
});

test('/listeners names each listener with its bound address: IPv6 in brackets, a pipe by its path', () => {
  const asked = hostWith((host) => {
    host.native.listenerList = [
      { name: 'a', statName: 'a', address: '127.0.0.1', port: 8080 },
      { name: 'b', statName: 'b', address: '::1', port: 8081 },
      { name: 'c', statName: 'c', address: '/run/c', port: 0 },
    ];
  });

  assert.equal(asked.get('/listeners').text, 'a::127.0.0.1:8080\nb::[::1]:8081\nc::/run/c\n');
  const { type, text } = asked.get('/listeners?format=json');
  assert.equal(type, 'json');
  assert.match(text, /^\{\n "listener_statuses": \[\n {2}\{\n/);
  assert.deepEqual(JSON.parse(text).listener_statuses, [
    { name: 'a', local_address: { socket_address: { address: '127.0.0.1', port_value: 8080 } } },
    { name: 'b', local_address: { socket_address: { address: '::1', port_value: 8081 } } },
    { name: 'c', local_address: { pipe: { path: '/run/c' } } },
  ]);
});

test('/listeners without listeners: an empty text, an empty message', () => {
  const asked = new AskedServer();

  assert.equal(asked.get('/listeners').text, '');
  assert.equal(asked.get('/listeners?format=json').text, '{}\n');
});

test('/clusters takes a filter, and says so when it is no regular expression', () => {
  const asked = new AskedServer();

  assert.equal(asked.get('/clusters?format=json').text, 'clusters as json');
  assert.equal(asked.get('/clusters?format=other&filter=a').text, 'clusters as text, filtered');
  assert.deepEqual(asked.get('/clusters?filter=%5B'), {
    status: 400,
    type: 'text',
    text: 'Invalid re2 regex',
  });
  assert.match(
    asked.get(`/clusters?filter=${'x%7B1000%7D'.repeat(400)}`).text,
    /^Invalid re2 regex: .* 20000 are the most$/,
  );
});

test('/server_info shows the command line in the order of the real server, defaults too', () => {
  const asked = hostWith((host) => {
    host.options = optionsOf(
      ...['-c', 'b.yaml', '-l', 'warn', '--file-flush-interval-msec', '250'],
      ...['--service-node', 'n', '--stats-tag', 'team:blue', '--use-dynamic-base-id'],
    );
  });

  const info = JSON.parse(asked.get('/server_info').text);
  assert.deepEqual(Object.keys(info.command_line_options).slice(0, 8), [
    'base_id',
    'concurrency',
    'config_path',
    'config_yaml',
    'allow_unknown_static_fields',
    'admin_address_path',
    'local_address_ip_version',
    'log_level',
  ]);
  const { command_line_options: options, node, uptime_current_epoch: uptime } = info;
  assert.equal(Object.keys(options).length, 39);
  assert.equal(uptime, '61s');
  assert.deepEqual(
    [options.base_id, options.concurrency, options.config_path, options.log_level, options.mode],
    ['0', 2, 'b.yaml', 'warning', 'Serve'],
  );
  assert.deepEqual(
    [options.file_flush_interval, options.drain_time, options.drain_strategy, options.stats_tag],
    ['0.250s', '600s', 'Gradual', ['team:blue']],
  );
  assert.deepEqual([options.use_dynamic_base_id, options.disabled_extensions], [true, []]);
  assert.equal(node.id, 'n');
});

test('/server_info: what else the node of the bootstrap says is told as it is, with defaults', () => {
  const asked = new AskedServer();
  asked.host.node = {
    user_agent_name: 'me',
    user_agent_build_version: { version: { major_number: 7 } },
    extensions: [{ name: 'mine', category: 'own' }],
    client_features: ['one'],
    listening_addresses: [{ socket_address: { address: '192.0.2.1', port_value: 5 } }],
  };
  const { node } = JSON.parse(asked.get('/server_info').text) as {
    readonly node: Readonly<Record<string, unknown>>;
  };
  assert.equal(node['user_agent_name'], 'me');
  assert.deepEqual(node['user_agent_build_version'], {
    version: { major_number: 7, minor_number: 0, patch: 0 },
  });
  const [first, ...others] = node['extensions'] as readonly unknown[];
  assert.deepEqual(first, {
    ...{ name: 'mine', category: 'own', type_descriptor: '' },
    ...{ disabled: false, type_urls: [] },
  });
  assert.ok(others.length > 100);
  assert.deepEqual(node['client_features'], ['one']);
  assert.deepEqual(node['listening_addresses'], [
    {
      socket_address: {
        protocol: 'TCP',
        address: '192.0.2.1',
        port_value: 5,
        resolver_name: '',
        ipv4_compat: false,
        network_namespace_filepath: '',
      },
    },
  ]);
  assert.deepEqual(node['dynamic_parameters'], {});
});

test('/server_info: the command line wins over the node of the bootstrap, field by field', () => {
  const asked = hostWith((host) => {
    host.options = optionsOf('-c', 'b.yaml', '--service-zone', 'z2', '--service-cluster', 'c2');
    host.node = {
      id: 'n',
      cluster: 'c',
      locality: { region: 'r', zone: 'z' },
      metadata: { a: '<' },
    };
  });

  const { text } = asked.get('/server_info');
  const { node } = JSON.parse(text);
  assert.deepEqual([node.id, node.cluster], ['n', 'c2']);
  assert.deepEqual(node.locality, { region: 'r', zone: 'z2', sub_zone: '' });
  assert.match(text, /"a": "\\u003c"/);
});

test('/memory: all numbers are texts', () => {
  const report = JSON.parse(new AskedServer().get('/memory').text);

  assert.deepEqual(Object.keys(report), [
    'allocated',
    'heap_size',
    'pageheap_unmapped',
    'pageheap_free',
    'total_thread_cache',
    'total_physical_bytes',
  ]);
  assert.deepEqual([report.allocated, report.heap_size, report.pageheap_free], ['1', '2', '3']);
});

test('/help lists commands by path, with POST and parameters', () => {
  const { text } = new AskedServer().get('/help');
  const paths = [...text.matchAll(/^ {2}(\/\S*?)(?: \(POST\))?: /gm)].map(([, path]) => path);

  assert.deepEqual(paths, [...paths].sort());
  assert.match(text, /^ {2}\/quitquitquit \(POST\): /m);
  assert.match(text, /^ {6}type: .*; One of \(All, Counters, Histograms, Gauges, TextReadouts\)$/m);
});

test('the home page has a link or a form for every command, and changes nothing by a link', () => {
  const { type, text } = new AskedServer().get('/');

  assert.equal(type, 'html');
  assert.match(text, /<a class="name" href="server_info">/);
  assert.match(text, /<form method="post" action="quitquitquit"><button/);
  assert.doesNotMatch(text, /href="(quitquitquit|reset_counters|healthcheck)/);
});

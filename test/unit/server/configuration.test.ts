import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Log } from '../../../src/logging/logger.js';
import { readConfiguration, type Configuration } from '../../../src/server/configuration.js';
import { StartError } from '../../../src/server/start-error.js';
import { FakeLog } from '../support/fake-log.js';
import { optionsOf } from '../support/options.js';

const LOG = new Log({ level: 'off', pattern: '%v' });

function read(bootstrap: object, ...args: readonly string[]): Configuration {
  return readConfiguration(optionsOf('--config-yaml', JSON.stringify(bootstrap), ...args), LOG);
}

function problemsOf(bootstrap: object, ...args: readonly string[]): string[] {
  try {
    read(bootstrap, ...args);
  } catch (error) {
    assert.ok(error instanceof StartError);
    return error.message.split('\n');
  }
  return [];
}

test('without a bootstrap the options that give one are named', () => {
  const message = 'At least one of --config-path or --config-yaml should be non-empty';
  assert.throws(() => readConfiguration(optionsOf(), LOG), new StartError(message));
});

test('a file that is not there is named', () => {
  assert.throws(() => readConfiguration(optionsOf('-c', '/no/such.yaml'), LOG), /\/no\/such\.yaml/);
});

test('the engine for regular expressions may be given: it is the one that there is', () => {
  const type = 'type.googleapis.com/envoy.extensions.regex_engines.v3.GoogleRE2';
  const engine = { name: 'envoy.regex_engines.google_re2', typed_config: { '@type': type } };
  assert.deepEqual(problemsOf({ default_regex_engine: engine }), []);
});

test('every error is said at once', () => {
  const problems = problemsOf({ no_such_field: 1, stats_flush_interval: 'soon' });

  assert.equal(problems.length, 2);
  assert.match(problems.join('\n'), /no_such_field/);
  assert.match(problems.join('\n'), /stats_flush_interval/);
});

test('unknown fields pass where they are allowed, and are counted once for each text', () => {
  const bootstrap = { no_such_field: 1, node: { other: 2 } };

  assert.equal(problemsOf(bootstrap).length, 2);
  assert.equal(read(bootstrap, '--allow-unknown-static-fields').unknownFieldCount, 1);
  assert.equal(read(bootstrap, '--allow-unknown-fields').unknownFieldCount, 1);
});

test('what is doubtful in the command line is said in the words of the real server', () => {
  const said = (...args: readonly string[]): string[] => {
    const fake = new FakeLog();
    const log = new Log({ level: 'info', pattern: '%v' }, fake);
    readConfiguration(optionsOf('--config-yaml', '{}', ...args), log);
    return fake.lines.filter((line) => !line.includes('loading '));
  };
  const echo = 'envoy.filters.network/envoy.filters.network.echo';

  assert.deepEqual(said('--concurrency=2'), []);
  assert.deepEqual(said('--cpuset-threads', '--concurrency=2'), [
    'warning config Both --concurrency and --cpuset-threads options are set; not applying --cpuset-threads.',
  ]);
  assert.deepEqual(said('--allow-unknown-fields'), [
    'warning config --allow-unknown-fields is deprecated, use --allow-unknown-static-fields instead.',
  ]);
  assert.deepEqual(said('--disable-extensions', `${echo},a/b,c`), [
    `info misc disabled extension '${echo}'`,
    "warning misc failed to disable unknown extension 'a/b'",
    "warning misc failed to disable invalid extension name 'c'",
  ]);
});

test('an extension that is disabled cannot be used, and the reason is said', () => {
  const type = 'envoy.extensions.filters.network.echo.v3.Echo';
  const filter = {
    name: 'e',
    typed_config: { '@type': `type.googleapis.com/${type}` },
  };
  const bootstrap = {
    static_resources: {
      listeners: [
        {
          name: 'l',
          address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
          filter_chains: [{ filters: [filter] }],
        },
      ],
    },
  };
  const disabling = (name: string): string =>
    problemsOf(bootstrap, '--disable-extensions', name).join('\n');

  assert.equal(disabling('envoy.filters.http/envoy.filters.network.echo'), '');
  for (const name of ['envoy.filters.network.echo', 'envoy.echo']) {
    const why = `Didn't find a registered implementation for 'e' with type URL: '${type}': --disable-extensions disables it`;
    assert.ok(disabling(`envoy.filters.network/${name}`).endsWith(why), name);
  }
  assert.match(
    disabling('envoy.transport_sockets.downstream/envoy.transport_sockets.raw_buffer'),
    /RawBuffer': --disable-extensions disables it$/,
  );
});

test('statistics: a flush every five seconds, another interval, or only when they are asked for', () => {
  const intervalOf = (bootstrap: object) => read(bootstrap).settings.statsFlushIntervalMs;

  assert.equal(intervalOf({}), 5000);
  assert.equal(intervalOf({ stats_flush_interval: '0.250s' }), 250);
  assert.equal(intervalOf({ stats_flush_on_admin: true }), undefined);
});

test('tags of the command line come before those of the bootstrap', () => {
  const bootstrap = { stats_config: { stats_tags: [{ tag_name: 'a', fixed_value: 'b' }] } };
  const { settings } = read(bootstrap, '--stats-tag', 'c:d');
  assert.deepEqual(settings.stats.fixed_tags, [
    { name: 'c', value: 'd' },
    { name: 'a', value: 'b' },
  ]);
});

test('the log format of the bootstrap is taken, unless the command line has one as well', () => {
  const bootstrap = { application_log_config: { log_format: { text_format: '%v' } } };

  assert.equal(read(bootstrap).settings.logFormat, '%v');
  assert.match(problemsOf(bootstrap, '--log-format', '%l %v').join('\n'), /--log-format/);
});

test('errors of decoding and of meaning are said together, in the order of the text', () => {
  const problems = problemsOf({
    static_resources: { clusters: [{ name: 'a' }, { name: 'a', connect_timeout: 'soon' }] },
    node: { id: 5 },
  });

  assert.deepEqual(
    problems.map((line) => line.replace(/^--config-yaml:/, '').slice(0, 50)),
    [
      '1:55: static_resources.clusters[1].name: cluster m',
      '1:77: static_resources.clusters[1].connect_timeout',
      '1:100: node.id: found 5; expected a string',
    ],
  );
});

test('what is wrong below or above a broken value is not said twice', () => {
  const problems = problemsOf({
    static_resources: {
      listeners: [{ name: 'l', address: { socket_address: 5 }, filter_chains: 7 }],
    },
  });

  assert.equal(problems.length, 2, problems.join('\n'));
});

test('v2 is upgraded, and each change logged at debug; --bootstrap-version 3 refuses it', () => {
  const bootstrap = {
    static_resources: {
      clusters: [{ name: 'a', hosts: [{ pipe: { path: '/tmp/a' } }] }],
    },
  };
  const said: string[] = [];
  const log = Object.assign(new Log({ level: 'debug', pattern: '%v' }), {
    debug: (_component: string, message: string) => said.push(message),
    info: () => undefined,
  });
  const options = optionsOf('--config-yaml', JSON.stringify(bootstrap));

  assert.equal(
    readConfiguration(options, log).firstUpdate.take().assignments?.[0]?.hosts?.length,
    1,
  );
  assert.deepEqual(said, [
    'upgraded from v2: static_resources.clusters[0]: hosts -> load_assignment.endpoints[0].lb_endpoints',
  ]);
  assert.equal(problemsOf(bootstrap, '--bootstrap-version', '2').length, 0);
  assert.match(
    problemsOf(bootstrap, '--bootstrap-version', '3').join(),
    /clusters\[0\]\.hosts: unknown field of envoy\.config\.cluster\.v3\.Cluster/,
  );
});

test('a log of JSON has the flags of its pattern within, but for the message as it is', () => {
  const config = (json_format: object): object => ({
    application_log_config: { log_format: { json_format } },
  });

  const { logFormat } = read(config({ text: '%j', level: '%l', of: ['%n', 3] })).settings;
  assert.equal(logFormat, '{"text":"%j","level":"%l","of":["%n",3]}');
  assert.match(
    problemsOf(config({ text: '%v' })).join(),
    /Usage of %v is unavailable for JSON log formats; expected %j/,
  );
});

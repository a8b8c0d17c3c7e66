// Writes cases for the oracle's differ: every reason for a retry, times every way in which a host fails,
// times every way in which a request comes, each with a cluster, a route and a line in the log of its own.
//   node test/parity/retry-matrix.mjs FOLDER [--parted]; differ --cases FOLDER --proxy …
// --parted: also requests that are still coming when a host fails. Those need a quiet machine.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const REASONS = [
  'none',
  '5xx',
  'gateway-error',
  'reset',
  'reset-before-request',
  'connect-failure',
  'envoy-ratelimited',
  'retriable-4xx',
  'refused-stream',
  'retriable-status-codes',
  'retriable-headers',
  'http3-post-connect-failure',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
];
/** What some reasons need besides. */
const DETAILS = {
  'retriable-status-codes': { retriable_status_codes: [409, 425, 503] },
  'retriable-headers': { retriable_headers: [{ name: 'x-again' }] },
};
const GRPC_STATUSES = [1, 4, 8, 13, 14];

/** More than this of a body is not kept for another try. */
const KEPT_BYTES = 1000;
/** Between a request's first bytes and its last: longer than any host takes to fail at its head. */
const PAUSE_S = 0.3;

const answer = (status, headers, body, length = body.length) =>
  [
    `HTTP/1.1 ${status}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${length}`,
    '',
    body,
  ].join('\r\n');

/** A host that answers as soon as it has the head, once; it stays long enough to be asked again. */
const atOnce = (send, hold = 0.5) => ({ kind: 'canned', send, hold });

/**
 * How hosts fail. `host`: a backend for all that fail so, or the name of another one; `once`: a backend for
 * each, which the second try finds well. `cluster`, `route` and `policy` go over what all have.
 */
const FAILURES = {
  refused: { host: { kind: 'closed' } },
  cut: { host: { close: 'before' } },
  'cut-at-head': { host: atOnce('', 0) },
  'cut-in-body': { host: atOnce(answer('200 OK', {}, 'part', 10), 0.1) },
  nonsense: { host: atOnce('NONSENSE\r\n\r\n', 0.1) },
  503: { host: { status: 503, body: 'bad', headers: { 'x-again': 'yes' } } },
  '503-at-head': {
    host: atOnce(answer('503 Service Unavailable', { 'x-again': 'yes' }, 'bad')),
  },
  '503-later': {
    host: atOnce(answer('503 Service Unavailable', { 'x-again': 'yes', 'retry-after': 1 }, 'bad')),
    policy: { rate_limited_retry_back_off: { reset_headers: [{ name: 'retry-after' }] } },
  },
  '503-once': { once: { status: [503, 200], headers: { 'x-again': 'yes' } } },
  '503-no-retries': {
    host: '503',
    cluster: { circuit_breakers: { thresholds: [{ max_retries: 0 }] } },
  },
  500: { host: { status: 500, body: 'internal' } },
  limited: { host: { status: 429, body: 'limited', headers: { 'x-envoy-ratelimited': 'true' } } },
  'limited-503': {
    host: { status: 503, body: 'limited', headers: { 'x-envoy-ratelimited': 'true' } },
  },
  409: { host: { status: 409, body: 'conflict' } },
  425: { host: { status: 425, body: 'early' } },
  ...Object.fromEntries(
    GRPC_STATUSES.map((status) => [
      `grpc-${status}`,
      { host: { body: 'grpc', headers: { 'grpc-status': status } } },
    ]),
  ),
  'try-timeout': { host: 'mute', route: { timeout: '3s' }, policy: { per_try_timeout: '0.1s' } },
  'idle-timeout': {
    host: 'mute',
    route: { timeout: '3s' },
    policy: { per_try_idle_timeout: '0.1s' },
  },
  'route-timeout': { host: 'mute', route: { timeout: '0.15s' } },
  'both-timeouts': {
    host: 'mute',
    route: { timeout: '0.5s' },
    policy: { per_try_timeout: '0.3s' },
  },
  'hedged-timeout': {
    host: 'mute',
    route: { timeout: '0.6s', hedge_policy: { hedge_on_per_try_timeout: true } },
    policy: { per_try_timeout: '0.2s' },
  },
  'hedged-late': {
    host: 'late',
    route: { timeout: '3s', hedge_policy: { hedge_on_per_try_timeout: true } },
    policy: { per_try_timeout: '0.7s' },
  },
  'no-place': {
    host: '503',
    cluster: { circuit_breakers: { thresholds: [{ max_pending_requests: 0 }] } },
  },
  'no-host': { cluster: { load_assignment: { cluster_name: 'no-host' } } },
};
const SHARED_HOSTS = { mute: { kind: 'sink' }, late: { delay: 1 } };

const head = (method, path, ...fields) =>
  [`${method} ${path} HTTP/1.1`, 'host: kit.test', 'connection: close', ...fields, '', ''].join(
    '\r\n',
  );
const x = (count) => 'x'.repeat(count);

/** How requests come. What is whole at once comes in one piece, so that it is read as one. */
const WHOLE = {
  get: (path) => [head('GET', path)],
  length: (path) => [`${head('POST', path, 'content-length: 5')}hello`],
  chunks: (path) => [`${head('POST', path, 'transfer-encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`],
  large: (path) => [head('POST', path, `content-length: ${2 * KEPT_BYTES}`) + x(2 * KEPT_BYTES)],
};
const PARTED = {
  slow: (path) => [`${head('POST', path, 'content-length: 10')}hello`, PAUSE_S, 'world'],
  'slow-large': (path) => [
    head('POST', path, `content-length: ${KEPT_BYTES + 200}`) + x(600),
    PAUSE_S,
    x(KEPT_BYTES - 400),
  ],
};

const LINE = [
  '%REQ(:PATH)% %RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%',
  '%UPSTREAM_REQUEST_ATTEMPT_COUNT% %BYTES_RECEIVED% %BYTES_SENT%',
  '%UPSTREAM_HOST% %UPSTREAM_TRANSPORT_FAILURE_REASON%\n',
].join(' ');
const FILE_LOG = 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog';
const ACCESS_LOG = {
  name: 'envoy.access_loggers.file',
  typed_config: {
    '@type': FILE_LOG,
    path: '${tmp}/access.log',
    log_format: { text_format_source: { inline_string: LINE } },
  },
};

function policyOf(reason, failure) {
  if (reason === 'none') return failure.policy;
  return {
    retry_on: reason,
    num_retries: 1,
    retry_back_off: { base_interval: '0.001s', max_interval: '0.002s' },
    ...DETAILS[reason],
    ...failure.policy,
  };
}

/** The differ's names of backends are words. */
const wordOf = (name) => name.replaceAll('-', '_');

/** A cluster of its own for one cell of the matrix, and the route to it. */
function cell(name, host, failure, policy) {
  const hosts = failure.cluster?.load_assignment ? {} : { hosts: [wordOf(host)] };
  return {
    cluster: { name, ...hosts, ...failure.cluster },
    route: {
      match: { path: `/${name}` },
      per_request_buffer_limit_bytes: KEPT_BYTES,
      route: { cluster: name, ...failure.route, ...(policy && { retry_policy: policy }) },
    },
  };
}

const counts = (area) => ({
  http: `GET /stats?usedonly&type=Counters&filter=^${area}\\.`,
  to: 'admin',
  // How bytes are gathered into reads is not the same twice.
  check: { headers: [], body: { stats: ['(?!.*_bytes_).*'] } },
});

function caseOf(reason, requests) {
  const backends = { ...SHARED_HOSTS };
  const cells = [];
  const asked = [];
  for (const [kind, failure] of Object.entries(FAILURES)) {
    if (typeof failure.host === 'object') backends[wordOf(kind)] = failure.host;
    for (const [form, request] of Object.entries(requests)) {
      const name = `${kind}_${form}`;
      if (failure.once) backends[wordOf(name)] = failure.once;
      const host = failure.once ? name : typeof failure.host === 'string' ? failure.host : kind;
      cells.push(cell(name, host, failure, policyOf(reason, failure)));
      const check = { end: 'either', mask: [['(timeout-ms: )\\d+', '\\1N']] };
      asked.push({ raw: request(`/${name}`), quiet: 5, check, background: name });
    }
  }
  return {
    about: `Retries for ${reason}: each failure of a host, for each form of a request.`,
    backends,
    http: {
      clusters: cells.map(({ cluster }) => cluster),
      vhosts: [
        {
          name: 'all',
          domains: ['*'],
          include_request_attempt_count: true,
          include_attempt_count_in_response: true,
          routes: cells.map(({ route }) => route),
        },
      ],
      // An answer before its request is whole must not be lost in a reset.
      hcm: { delayed_close_timeout: `${2 * PAUSE_S}s`, access_log: [ACCESS_LOG] },
    },
    args: ['--file-flush-interval-msec', '100'],
    steps: [
      ...asked,
      ...asked.map(({ background }) => ({ join: background, within: 30 })),
      { file: '${tmp}/access.log', lines: asked.length, within: 10, check: { body: 'lines' } },
      // The hosts that leave have left.
      {
        wait_until: {
          path: '/stats?filter=^cluster.(cut|nonsense|503-(at|later)).*upstream_cx_active',
          matches: 'active: [1-9]',
          not: true,
        },
      },
      counts('cluster'),
      counts('http'),
      { http: 'GET /clusters', to: 'admin', check: { body: { any_order: ['::(cx|rq)_'] } } },
    ],
  };
}

const [target = '.', option] = process.argv.slice(2);
const requests = option === '--parted' ? { ...WHOLE, ...PARTED } : WHOLE;
const folder = join(target, 'retry-matrix');
mkdirSync(folder, { recursive: true });
for (const reason of REASONS) {
  // Every JSON is YAML.
  writeFileSync(join(folder, `${reason}.yaml`), JSON.stringify(caseOf(reason, requests)));
}

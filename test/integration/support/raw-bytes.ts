// Requests to the admin server, and what careless or hostile hands make of their bytes.

/** Not those that end the server, stop its listeners, or answer for ever. */
const TARGETS = (
  '/ /help /certs /clusters /listeners /memory /server_info /ready /hot_restart_version ' +
  '/contention /runtime /config_dump /init_dump /stats?filter=a&format=json /stats/prometheus ' +
  '/stats/recentlookups /reset_counters /healthcheck/ok /logging?level=info ' +
  '/runtime_modify?a=b /ui /ui/live /tap /nothing'
).split(' ');

/** What targets are spliced with: each has once been too much for some server. */
const TARGET_TOKENS = [
  ...[
    '/\\[/./',
    '//\\',
    '/\\x//ready',
    '/..;/',
    '/%2e%2e/',
    '%00',
    '%',
    '%zz',
    '%c0%af',
    '\\',
    '[',
    ']',
  ],
  ...[
    '//',
    '/./',
    '/../',
    '?',
    '#',
    '@',
    ':',
    '*',
    'http://a/',
    'http://[::1',
    '\u0000',
    '\t',
    '\u00ff',
    ' ',
  ],
  ...[
    '/.'.repeat(3000),
    '/'.repeat(5000),
    'a'.repeat(60_000),
    '%25'.repeat(500),
    '?&=&'.repeat(400),
  ],
];
const HEADERS = [
  ...['host: a', 'host: ', 'Host: a, b', 'host: [', 'host: rebound.test', 'host: a\r\nhost: b'],
  ...[
    'connection: close',
    'connection: upgrade, close',
    'connection: \u00ff',
    'expect: 100-continue',
  ],
  ...['content-length: 0', 'content-length: 5', 'content-length: -1', 'content-length: 1e3'],
  ...['content-length: 99999999999999999999', 'content-length: 5\r\ncontent-length: 6'],
  ...[
    'transfer-encoding: chunked',
    'transfer-encoding: gzip, chunked',
    'transfer-encoding: \u000bchunked',
  ],
  ...['upgrade: websocket', 'sec-websocket-key: x', 'sec-websocket-version: 13', 'origin: null'],
  ...[
    'origin: http://[',
    'sec-fetch-site: cross-site',
    'accept: text/html',
    'user-agent: Mozilla/5.0',
  ],
  ...['x-forwarded-for: \u0001', 'content-type: application/x-www-form-urlencoded', ': empty', 'a'],
  ...[' folded', 'a : b', `x: ${'v'.repeat(9000)}`, 'y: z\r\n'.repeat(120).trimEnd()],
];
const CHUNKS = [
  ...[
    '0\r\n\r\n',
    '5\r\nhello\r\n',
    '5;a=b\r\nhello\r\n',
    'zz\r\n',
    '-1\r\n',
    'fffffffffffffffff\r\n',
  ],
  ...[
    '5\r\nhelloworld\r\n',
    '5\nhello\n',
    '\r\n',
    '0\r\na: b\r\n\r\n',
    '7fffffff\r\nx',
    ' 5\r\nhello\r\n',
  ],
];
const METHODS = [
  'GET',
  'GET',
  'GET',
  'POST',
  'POST',
  'HEAD',
  'PUT',
  'OPTIONS',
  'CONNECT',
  'get',
  'FOO',
  '',
];
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/2.0',
  'HTTP/9',
  '',
  'http/1.1',
];

export class RawBytes {
  readonly #random: () => number;

  /** `random`: from 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** What one client sends, in the pieces in which it sends it. */
  next(): readonly Buffer[] {
    const count = this.#chance(0.15) ? 1 + this.#below(20) : 1;
    let text = '';
    for (let index = 0; index < count; index += 1) text += this.#request();
    let bytes = Buffer.from(text, 'latin1');
    for (let left = this.#below(4); left > 0; left -= 1) bytes = this.#mutated(bytes);
    return this.#split(bytes);
  }

  #request(): string {
    const pick = (from: readonly string[]): string => from[this.#below(from.length)] ?? '';
    let target = pick(TARGETS);
    for (let left = this.#below(3); left > 0; left -= 1) {
      const at = this.#below(target.length + 1);
      target = target.slice(0, at) + pick(TARGET_TOKENS) + target.slice(at);
    }
    const headers = Array.from({ length: this.#below(4) }, () => pick(HEADERS));
    if (this.#chance(0.8)) headers.unshift('host: localhost');
    const body = this.#chance(0.3)
      ? Array.from({ length: 1 + this.#below(3) }, () => pick(CHUNKS)).join('')
      : '';
    if (body !== '' && this.#chance(0.5)) headers.push('transfer-encoding: chunked');
    const method = this.#chance(0.7) ? 'GET' : pick(METHODS);
    const lines = [`${method} ${target} ${pick(VERSIONS)}`, ...headers, '', ''];
    return lines.join(this.#chance(0.05) ? '\n' : '\r\n') + body;
  }

  #mutated(bytes: Buffer): Buffer<ArrayBuffer> {
    const at = this.#below(bytes.length + 1);
    const end = Math.min(bytes.length, at + this.#below(40));
    const [before, part, after] = [
      bytes.subarray(0, at),
      bytes.subarray(at, end),
      bytes.subarray(end),
    ];
    switch (this.#below(5)) {
      case 0:
        return Buffer.concat([before, after]);
      case 1:
        return Buffer.concat([before, part, part, after]);
      case 2:
        return Buffer.from(before);
      case 3: {
        const noise = Buffer.from(Array.from(part, () => this.#below(256)));
        return Buffer.concat([before, noise, after]);
      }
      default: {
        const special = Buffer.from(
          ['\r', '\n', '\0', ' ', ':', '\u00ff', '%', '\t'][this.#below(8)] ?? '',
          'latin1',
        );
        return Buffer.concat([before, special, part, after]);
      }
    }
  }

  #split(bytes: Buffer): readonly Buffer[] {
    if (this.#chance(0.6)) return [bytes];
    const ends = Array.from({ length: 1 + this.#below(4) }, () => this.#below(bytes.length + 1));
    const bounds = [0, ...ends.sort((a, b) => a - b), bytes.length];
    return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }
}

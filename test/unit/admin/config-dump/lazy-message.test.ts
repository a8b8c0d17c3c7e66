import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LazyMessages } from '../../../../src/admin/config-dump/lazy-message.js';
import { MessageTexts } from '../../../../src/admin/config-dump/message-texts.js';
import { jsonPage } from '../../../../src/admin/pages/json-page.js';
import { loadBootstrap } from '../../../../src/config/load.js';
import type { PlainObject } from '../../../../src/config/values/objects.js';
import { schema } from '../../../../src/config/schema/schema.js';

const HOSTS = 3000;
const MANAGER =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** Long in an Any of a list of a list, in a struct, and in what is secret. */
function longBootstrap(): { type: ReturnType<typeof typeOf>; message: PlainObject } {
  const numbers = Array.from({ length: HOSTS }, (_, index) => index);
  const yaml = JSON.stringify({
    node: { id: 'here', metadata: { deep: { list: numbers.map((n) => ({ n, s: `<${n}>` })) } } },
    static_resources: {
      secrets: [
        { name: 'long', generic_secret: { secret: { inline_string: 'hush'.repeat(10_000) } } },
        {
          name: 'keys',
          session_ticket_keys: { keys: numbers.map((n) => ({ inline_string: `key ${n}` })) },
        },
      ],
      listeners: [
        {
          name: 'main',
          address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
          filter_chains: [
            {
              filters: [
                {
                  name: 'http',
                  typed_config: {
                    '@type': MANAGER,
                    stat_prefix: 'in',
                    route_config: {
                      virtual_hosts: numbers.map((n) => ({
                        name: `host_${n}`,
                        domains: [`${n}.example`],
                        routes: [{ match: { prefix: '/' }, direct_response: { status: 200 } }],
                      })),
                    },
                  },
                },
              ],
            },
          ],
        },
      ],
    },
  });
  const { bootstrap, issues } = loadBootstrap({ inlineYaml: yaml });
  assert.deepEqual(issues, []);
  return { type: typeOf(), message: bootstrap as unknown as PlainObject };
}

const typeOf = () => schema().getMessage('envoy.config.bootstrap.v3.Bootstrap');

test('what is printed piece by piece reads as if it were printed at once', () => {
  const { type, message } = longBootstrap();
  const page = jsonPage(new LazyMessages(schema()).message(type, message, 0));
  const pieces: Buffer[] = [];
  for (let piece = page.next(); piece !== null; piece = page.next()) pieces.push(piece);

  const expected = new MessageTexts(schema()).message(type, message, 0, false);
  assert.equal(Buffer.concat(pieces).toString(), `${expected}\n`);
  assert.ok(!expected.includes('hush') && !expected.includes('key 1'));
  // However deep it is, nothing long is made in one go.
  const longest = Math.max(...pieces.map(({ length }) => length));
  assert.ok(longest < 80 * 1024, `a piece of ${longest} bytes`);
});

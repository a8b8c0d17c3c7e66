import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAgent } from '../../../src/plan/own-node.js';
import { identifierBytes, nodeBytes } from '../../../src/stats/node-bytes.js';

const AGENT = {
  name: 'agent',
  build: { version: { major_number: 1 } },
  extensions: [{ name: 'of-agent' }],
};
const BUILD = { version: { major_number: 1, minor_number: 0, patch: 0 }, metadata: {} };

test('what a node says of its program goes before what the program says', () => {
  const plain = { user_agent_name: 'agent', user_agent_build_version: AGENT.build };
  assert.deepEqual(withAgent({ id: 'a', user_agent_version: '1' }, AGENT), {
    ...{ id: 'a', ...plain },
    extensions: [{ name: 'of-agent' }],
  });
  const own = { user_agent_name: 'me', user_agent_build_version: { version: { patch: 2 } } };
  assert.deepEqual(withAgent({ ...own, extensions: [{ name: 'mine' }] }, AGENT), {
    ...own,
    extensions: [{ name: 'mine' }, { name: 'of-agent' }],
  });
});

test('all that a node says is in its bytes', () => {
  const node = {
    ...{ id: 'i', cluster: 'c', user_agent_name: 'me', client_features: ['f'] },
    metadata: { a: 'b' },
    user_agent_build_version: { version: { major_number: 7 } },
    extensions: [{ name: 'e', disabled: true }],
  };
  const bytes = nodeBytes({ node, build: BUILD });
  assert.equal(
    Buffer.from(bytes).toString('latin1'),
    '\x0a\x01i\x12\x01c\x1a\x0a\x0a\x08\x0a\x01a\x12\x03\x1a\x01b2\x02meB\x04\x0a\x02\x08\x07J\x05\x0a\x01e\x28\x01R\x01f',
  );
  const identifier = identifierBytes({ node, build: BUILD });
  assert.deepEqual([...identifier.subarray(-bytes.length)], [...bytes]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';
import { descriptorSet, field, message, method } from './descriptors.js';

const TYPE = 'envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder';

const SHOP = {
  name: 'shop.proto',
  package: 'kit',
  syntax: 'proto3',
  message_type: [
    message('Item', [field('item_id', 1, 9), field('inner', 2, 11, '.kit.Item')]),
    message('Other', [field('a', 1, 5)]),
  ],
  service: [
    {
      name: 'Shop',
      method: [
        method('Get', '.kit.Item', '.kit.Item', {
          get: '/items/{item_id}',
          additional_bindings: [{ post: '/deep/{inner.item_id=a/**}/end:list', body: 'inner' }],
        }),
        method('Plain', '.kit.Item', '.kit.Item'),
      ],
    },
  ],
};

const PLAIN = { name: 'Shop', method: [method('Plain', '.kit.Item', '.kit.Item')] };

const transcoder = (fields: object, files: readonly object[] = [SHOP]) =>
  compiled([
    {
      name: 't',
      typed_config: any(TYPE, {
        proto_descriptor_bin: descriptorSet(files),
        services: ['kit.Shop'],
        ...fields,
      }),
    },
  ]);

test('methods, their paths and the messages that they speak of become tables', () => {
  const { issues, filters } = transcoder({});
  assert.deepEqual(issues, []);
  const plan = filters?.[0]?.grpc_json_transcoder;
  assert.deepEqual(
    plan?.methods?.map(({ path }) => path),
    ['/kit.Shop/Get', '/kit.Shop/Plain'],
  );
  assert.deepEqual(
    plan?.messages?.map(({ name }) => name),
    ['kit.Item'],
    'others are left out',
  );
  assert.deepEqual(
    plan?.messages?.[0]?.fields?.map(({ json_name }) => json_name),
    ['itemId', 'inner'],
  );
  assert.deepEqual(plan?.bindings, [
    {
      http_method: 'GET',
      segments: ['items', '*'],
      verb: '',
      variables: [{ field_path: ['item_id'], first: 1, end: 2 }],
      body: '',
      method: 0,
    },
    {
      http_method: 'POST',
      segments: ['deep', 'a', '**', 'end'],
      verb: 'list',
      variables: [{ field_path: ['inner', 'item_id'], first: 1, end: 4294967294 }],
      body: 'inner',
      method: 0,
    },
  ]);
});

test('what is in a oneof is told apart from what is in none, the first oneof included', () => {
  const item = {
    name: 'Item',
    field: [field('plain', 1, 5), { ...field('chosen', 2, 5), oneof_index: 0 }],
    oneof_decl: [{ name: 'choice' }],
  };
  const { issues, filters } = transcoder({}, [{ ...SHOP, message_type: [item], service: [PLAIN] }]);
  assert.deepEqual(issues, []);
  const [known] = filters?.[0]?.grpc_json_transcoder?.messages ?? [];
  assert.deepEqual(known?.oneofs, ['choice']);
  assert.deepEqual(
    known?.fields?.map(({ oneof, has_presence }) => [oneof, has_presence]),
    [
      [0, false],
      [1, true],
    ],
  );
});

test('auto_mapping gives methods without a rule a path of their own', () => {
  const { filters } = transcoder({ auto_mapping: true });
  const binding = filters?.[0]?.grpc_json_transcoder?.bindings?.at(-1);
  assert.deepEqual(
    [binding?.http_method, binding?.segments, binding?.body],
    ['POST', ['kit.Shop', 'Plain'], '*'],
  );
});

test('convert_grpc_status brings google.rpc.Status along, and all that it may hold', () => {
  const { filters } = transcoder({ convert_grpc_status: true });
  const plan = filters?.[0]?.grpc_json_transcoder;
  assert.deepEqual(
    plan?.messages?.map(({ name }) => name),
    ['kit.Item', 'kit.Other', 'google.protobuf.Any', 'google.rpc.Status'],
  );
  assert.equal(plan?.status_message, 3);
});

test('without services nothing is read', () => {
  const { issues, filters } = transcoder({
    services: [],
    proto_descriptor_bin: new Uint8Array([9]),
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(filters?.[0]?.grpc_json_transcoder, {});
});

test('what is no descriptor, and what descriptors lack, is said', () => {
  const wrong = (fields: object, files?: readonly object[]): string =>
    transcoder(fields, files).issues.join('\n');
  assert.match(
    wrong({ proto_descriptor_bin: new Uint8Array([255, 255]) }),
    /transcoding_filter: Unable to parse proto descriptor/,
  );
  assert.match(wrong({}, [{ ...SHOP, dependency: ['lost.proto'] }]), /pool: .*imports lost\.proto/);
  assert.match(
    wrong({}, [{ ...SHOP, message_type: [message('Item', [field('a', 1, 11, '.kit.Lost')])] }]),
    /kit\.Item\.a is a \.kit\.Lost, which is not there/,
  );
  assert.match(
    wrong({ services: ['kit.Shot'] }),
    /Could not find 'kit\.Shot' in the proto descriptor.*kit\.Shop/s,
  );
});

test('rules that cannot be followed name their method', () => {
  const rule = (http: object): string => {
    const service = { name: 'Shop', method: [method('Get', '.kit.Item', '.kit.Item', http)] };
    return transcoder({}, [{ ...SHOP, service: [service] }]).issues.join('\n');
  };
  for (const path of ['items', '/a//b', '/{a', '/{a=**}/{b}', '/a:', '/{a={b}}', '/*a', '/{}'])
    assert.match(rule({ get: path }), /Cannot register 'kit\.Shop\.Get' to path matcher/, path);
  assert.match(
    rule({ post: '/a', body: 'lost' }),
    /Cannot register 'kit\.Shop\.Get': Could not find field "lost" in the type "kit\.Item"/,
  );
  assert.match(
    rule({ post: '/a', response_body: 'inner' }),
    /"response_body" is not supported yet/,
  );
  assert.equal(rule({ get: '/' }), '');
});

test('a route has a transcoder of its own', () => {
  const { issues, configs } = compiled(
    [
      {
        name: 't',
        typed_config: any(TYPE, { proto_descriptor_bin: new Uint8Array(), services: [] }),
      },
    ],
    {
      route: {
        t: any(TYPE, { proto_descriptor_bin: descriptorSet([SHOP]), services: ['kit.Shop'] }),
      },
    },
  );
  assert.deepEqual(issues, []);
  assert.equal(configs?.[0]?.grpc_json_transcoder?.methods?.length, 2);
});

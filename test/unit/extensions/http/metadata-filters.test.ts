import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const PACKAGE = 'envoy.extensions.filters.http';
const one = (type: string, fields: object) => ({
  name: 'x',
  typed_config: any(`${PACKAGE}.${type}`, fields),
});
const issuesOf = (type: string, fields: object): string =>
  compiled([one(type, fields)]).issues.join();

test('rules of header_to_metadata that make no sense are refused in the real words', () => {
  const present = { on_header_present: { key: 'k' } };
  const cases = [
    [{ header: 'a', cookie: 'b', ...present }, /Cannot specify both header and cookie/],
    [{ ...present }, /One of Cookie or Header option needs to be specified/],
    [{ header: 'A' }, /rule for header 'a' has neither `on_header_present` nor/],
    [{ cookie: 'a', ...present, remove: true }, /Cannot specify remove for cookie/],
    [
      { header: 'a', on_header_missing: { key: 'k' } },
      /on_header_missing rule with an empty value/,
    ],
  ] as const;
  for (const [rule, expected] of cases) {
    assert.match(issuesOf('header_to_metadata.v3.Config', { request_rules: [rule] }), expected);
  }
});

test('set_metadata takes the older way to say the same first', () => {
  const { filters } = compiled([
    one('set_metadata.v3.Config', {
      metadata_namespace: 'old',
      value: { a: 1 },
      metadata: [{ metadata_namespace: 'new', value: { b: 'c' } }],
    }),
  ]);
  assert.deepEqual(
    filters?.[0]?.set_metadata?.entries?.map(({ space, overwrites = false, value }) => [
      space,
      overwrites,
      value,
    ]),
    [
      ['old', true, '{"a":1}'],
      ['new', false, '{"b":"c"}'],
    ],
  );
});

test('set_filter_state makes texts, also those that hosts hear of', () => {
  const value = (more: object) => ({
    on_request_headers: [
      { object_key: 'k', format_string: { text_format_source: { inline_string: 'x' } }, ...more },
    ],
  });
  assert.equal(issuesOf('set_filter_state.v3.Config', value({ factory_key: 'envoy.string' })), '');
  assert.match(
    issuesOf('set_filter_state.v3.Config', value({})),
    /'k' does not have an object factory/,
  );
  assert.equal(
    issuesOf(
      'set_filter_state.v3.Config',
      value({ factory_key: 'envoy.string', shared_with_upstream: 'ONCE' }),
    ),
    '',
  );
});

test('json_to_metadata needs values for what is missing or wrong', () => {
  const rule = { selectors: [{ key: 'a' }] };
  const rules = (more: object) => ({ request_rules: { rules: [{ ...rule, ...more }] } });
  assert.match(
    issuesOf('json_to_metadata.v3.JsonToMetadata', rules({})),
    /neither `on_present` nor `on_missing` set/,
  );
  assert.match(
    issuesOf('json_to_metadata.v3.JsonToMetadata', rules({ on_missing: { key: 'k' } })),
    /on_missing rule with empty value/,
  );
});

test('keys of api_key_auth are told apart, and not repeated', () => {
  const credentials = [
    { key: 'hush', client: 'a' },
    { key: 'hush', client: 'b' },
  ];
  const found = issuesOf('api_key_auth.v3.ApiKeyAuth', { credentials, key_sources: [{}] });
  assert.match(found, /Duplicate API key/);
  assert.match(found, /One of 'header'\/'query'\/'cookie' must be set/);
  assert.doesNotMatch(found, /hush/);
});

test('a session is by cookie, header or envelope', () => {
  const state = (type: string, fields: object) => ({
    session_state: {
      name: `envoy.http.stateful_session.${type.split('.')[0]}`,
      typed_config: any(`envoy.extensions.http.stateful_session.${type}`, fields),
    },
  });
  const cookie = {
    name: 'c',
    ttl: 60_000,
    path: '/p',
    attributes: [{ name: 'Secure' }, { name: 'SameSite', value: 'Lax' }],
  };
  const { filters } = compiled([
    one(
      'stateful_session.v3.StatefulSession',
      state('cookie.v3.CookieBasedSessionState', { cookie }),
    ),
  ]);
  assert.deepEqual(filters?.[0]?.stateful_session?.cookie, {
    name: 'c',
    path: '/p',
    ttl_s: 60,
    attributes: '; Secure; SameSite=Lax',
  });
});

test('only the asymmetric signatures of AWS are for several regions', () => {
  const issuesOf = (region: string, algorithm: string): readonly unknown[] =>
    compiled([
      one('aws_request_signing.v3.AwsRequestSigning', {
        service_name: 's',
        region,
        signing_algorithm: algorithm,
      }),
    ]).issues;
  assert.deepEqual(issuesOf('us-*,eu-west-1', 'AWS_SIGV4A'), []);
  for (const region of ['us-*', 'us-east-1,eu-west-1']) {
    const [issue, ...more] = issuesOf(region, 'AWS_SIGV4');
    assert.match(String(issue), /region.*cannot contain wildcards or commas/s);
    assert.deepEqual(more, []);
  }
});

test('credentials of AWS are of the configuration, of files or of the environment', () => {
  const signing = (provider: object) => ({
    service_name: 's',
    region: 'r',
    credential_provider: provider,
  });
  const inline = { inline_credential: { access_key_id: 'a', secret_access_key: 'b' } };
  const { filters, issues } = compiled([
    one('aws_request_signing.v3.AwsRequestSigning', signing(inline)),
  ]);
  assert.deepEqual(issues, []);
  assert.equal(filters?.[0]?.aws_request_signing?.credentials?.access_key_id, 'a');
  const text =
    '[other]\naws_access_key_id = x\n[p]\naws_access_key_id = id\naws_secret_access_key=key\n';
  const file = {
    custom_credential_provider_chain: true,
    credentials_file_provider: { credentials_data_source: { inline_string: text }, profile: 'p' },
  };
  const plan = compiled([one('aws_request_signing.v3.AwsRequestSigning', signing(file))])
    .filters?.[0];
  assert.equal(plan?.aws_request_signing?.credentials?.secret_access_key, 'key');
  const far = {
    custom_credential_provider_chain: true,
    instance_profile_credential_provider: {},
    assume_role_credential_provider: { role_arn: 'arn:aws:iam::1:role/a' },
  };
  const fetched = compiled([one('aws_request_signing.v3.AwsRequestSigning', signing(far))])
    .filters?.[0]?.aws_request_signing;
  assert.deepEqual(fetched?.credentials, { id: 1, is_pending: true });
  assert.ok(fetched?.providers?.includes('ec2_instance_metadata_server_internal'));
  assert.ok(fetched?.providers?.includes('sts_token_service_internal-r'));
  const anywhere = {
    iam_roles_anywhere_credential_provider: {
      role_arn: 'arn:role',
      profile_arn: 'arn:profile',
      trust_anchor_arn: 'arn:anchor',
      certificate: { inline_string: 'c' },
      private_key: { inline_string: 'k' },
    },
  };
  const byCertificate = compiled([
    one('aws_request_signing.v3.AwsRequestSigning', signing(anywhere)),
  ]).filters?.[0]?.aws_request_signing;
  assert.ok(byCertificate?.providers?.some((name) => name.startsWith('rolesanywhere')));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IpTagging_Requests as Requests } from '../../../../src/plan/plan.gen.js';
import {
  any,
  compile,
  connectionManager,
  issuesOf,
  listenerOf,
  ROUTER,
} from '../../plan/helpers.js';

const PACKAGE = 'envoy.extensions.filters.http';
const GENERIC = 'envoy.extensions.http.injected_credentials.generic.v3.Generic';
const OAUTH2 = 'envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2';

/** One filter, where there is a secret "token". */
function compileOne(type: string, fields: object) {
  const http_filters = [{ name: 'x', typed_config: any(`${PACKAGE}.${type}`, fields) }, ROUTER];
  const secrets = [{ name: 'token', generic_secret: { secret: { inline_string: 'hush' } } }];
  const listeners = [listenerOf(connectionManager({}, { http_filters }))];
  const result = compile({ static_resources: { listeners, secrets } });
  return {
    issues: issuesOf(result),
    filter: result.update.listeners?.[0]?.filter_chains?.[0]?.http?.http_filters?.[0],
  };
}

test('ip_tagging has tags of ranges, and not of files', () => {
  const TAGGING = 'ip_tagging.v3.IPTagging';
  const ten = { ip_tag_name: 'ten', ip_list: [{ address_prefix: '10.0.0.0', prefix_len: 8 }] };
  const { issues, filter } = compileOne(TAGGING, {
    request_type: 'EXTERNAL',
    ip_tags: [ten],
    ip_tag_header: { header: 'X-Tags', action: 'APPEND_IF_EXISTS_OR_ADD' },
  });
  assert.deepEqual(issues, []);
  const { tags = [], ...plan } = filter?.ip_tagging ?? {};
  assert.deepEqual(plan, { requests: Requests.EXTERNAL, header: 'x-tags', appends: true });
  assert.deepEqual(
    tags.map(({ name, ranges }) => [name, ranges?.length]),
    [['ten', 1]],
  );
  assert.match(
    compileOne(TAGGING, {}).issues.join(),
    /requires either ip_tags or ip_tags_datasource/,
  );
  assert.match(
    compileOne(TAGGING, { ip_tags_datasource: { filename: '/tags' } }).issues.join(),
    /ip_tags_datasource of .*IPTagging is not supported yet/,
  );
});

test('credential_injector has the text of a secret, or a token that is fetched', () => {
  const inject = (type: string, fields: object, more: object = {}) =>
    compileOne('credential_injector.v3.CredentialInjector', {
      credential: { name: 'c', typed_config: any(type, fields) },
      ...more,
    });
  const token = { credential: { name: 'token' } };
  const { issues, filter } = inject(
    GENERIC,
    { ...token, header: 'X-Own', header_value_prefix: 'Own ' },
    { overwrite: true, allow_request_without_credential: true },
  );
  assert.deepEqual(issues, []);
  assert.deepEqual(filter?.credential_injector, {
    overwrites: true,
    allows_without: true,
    header: 'x-own',
    prefix: 'Own ',
    credential: { value: 'hush' },
  });
  assert.equal(inject(GENERIC, token).filter?.credential_injector?.header, 'authorization');
  assert.match(inject(OAUTH2, {}).issues.join(), /Invalid oauth2 client secret/);
  const sds_config = { path_config_source: { path: process.execPath } };
  const bySds = { credential: { name: 'far', sds_config } };
  assert.deepEqual(inject(GENERIC, bySds).filter?.credential_injector?.credential?.id, 1);
  const fetched = inject(OAUTH2, {
    token_endpoint: { cluster: 'idp', uri: 'http://idp.test/token', timeout: 1000 },
    client_credentials: { client_id: 'c', client_secret: { name: 'token' } },
  });
  assert.deepEqual(fetched.filter?.credential_injector, {
    overwrites: undefined,
    allows_without: undefined,
    header: 'authorization',
    credential: { id: 1 },
    counts_tokens: true,
  });
});

// envoy.filters.http.basic_auth
import type {
  envoy_config_core_v3_DataSource as DataSource,
  envoy_extensions_filters_http_basic_auth_v3_BasicAuth as BasicAuth,
  envoy_extensions_filters_http_basic_auth_v3_BasicAuthPerRoute as PerRoute,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { readTextSource } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { BasicAuthUser } from '../../plan/plan.gen.js';

const PACKAGE = 'envoy.extensions.filters.http.basic_auth.v3';
const FIELDS = supportedFields<BasicAuth>(`${PACKAGE}.BasicAuth`, [
  'users',
  'forward_username_header',
  'authentication_header',
  'allow_missing',
  'realm',
  'emit_dynamic_metadata',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.BasicAuthPerRoute`, ['users', 'realm']);

const SHA = '{SHA}';
/** Of SHA-1 in Base64. */
const HASH_LENGTH = 28;
const HASH_BYTES = 20;
const EXPECTED =
  'lines of "name:{SHA}" and the password\'s SHA-1 in Base64, as htpasswd -s writes them';

export const basicAuth = defineHttpFilter<BasicAuth, PerRoute>({
  name: 'envoy.filters.http.basic_auth',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    return {
      basic_auth: {
        users: { users: readUsers(config.users, place.field('users')), realm: config.realm },
        forward_username_header: config.forward_username_header?.toLowerCase(),
        authentication_header: (config.authentication_header || 'authorization').toLowerCase(),
        allow_missing: config.allow_missing,
        metadata_name: config.emit_dynamic_metadata ? context.httpFilterName : '',
      },
    };
  },
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place) {
      refuseOtherFields(place, config, PER_ROUTE);
      const users = readUsers(config.users, place.field('users'));
      return { basic_auth: { users, realm: config.realm } };
    },
  },
});

/** Those of a htpasswd file; after an error, those that are none the less there. */
function readUsers(source: DataSource | undefined, place: Place): BasicAuthUser[] {
  const users = new Map<string, BasicAuthUser>();
  if (!source || source.inline_string === '') {
    place.error(
      source ? 'DataSource cannot be empty' : 'Unexpected DataSource::specifier_case(): 0',
      {
        expected: EXPECTED,
      },
    );
    return [];
  }
  const text = readTextSource(source, place) ?? '';
  text.split('\n').forEach((line, index) => {
    if (line === '' || line.startsWith('#')) return;
    const user = readUser(line);
    const known = typeof user === 'object' && users.has(user.name ?? '');
    const fault = known ? 'duplicate users' : typeof user === 'string' ? user : undefined;
    if (fault !== undefined) {
      place.error(`basic auth: ${fault} (line ${index + 1})`, { expected: EXPECTED });
    } else if (typeof user === 'object') {
      users.set(user.name ?? '', user);
    }
  });
  return [...users.values()];
}

/** A text: what is wrong, in the real server's words. The line is not repeated: it is a secret. */
function readUser(line: string): BasicAuthUser | string {
  const colon = line.indexOf(':');
  if (colon < 0) return 'invalid htpasswd format, username:password is expected';
  const name = line.slice(0, colon);
  const hash = line.slice(colon + 1);
  if (name === '') return 'empty user name';
  if (hash === '') return 'empty password';
  if (!hash.startsWith(SHA)) return 'unsupported htpasswd format: please use {SHA}';
  const coded = hash.slice(SHA.length);
  if (coded.length !== HASH_LENGTH) return 'invalid htpasswd format, invalid SHA hash length';
  const bytes = Buffer.from(coded, 'base64');
  if (bytes.length !== HASH_BYTES || bytes.toString('base64') !== coded) {
    return 'invalid htpasswd format, the hash is no Base64';
  }
  return { name, hash: bytes };
}

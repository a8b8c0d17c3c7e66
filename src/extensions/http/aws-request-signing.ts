// envoy.filters.http.aws_request_signing
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type {
  envoy_extensions_common_aws_v3_AwsCredentialProvider as Provider,
  envoy_extensions_filters_http_aws_request_signing_v3_AwsRequestSigning as Message,
  envoy_extensions_filters_http_aws_request_signing_v3_AwsRequestSigningPerRoute as PerRoute,
  envoy_type_matcher_v3_StringMatcher as StringMatcher,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { compileStringMatcher } from '../../plan/match/matchers.js';
import { readFile, readTextSource } from '../../plan/message/data-source.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { AwsCredentials, AwsSigning, StringMatch } from '../../plan/plan.gen.js';

const PACKAGE = 'envoy.extensions.filters.http.aws_request_signing.v3';
const FIELDS = supportedFields<Message>(
  `${PACKAGE}.AwsRequestSigning`,
  [
    'service_name',
    'region',
    'host_rewrite',
    'use_unsigned_payload',
    'match_excluded_headers',
    'match_included_headers',
    'query_string',
    'credential_provider',
  ],
  { signing_algorithm: 'AWS_SIGV4' },
);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.AwsRequestSigningPerRoute`, [
  'aws_request_signing',
  'stat_prefix',
]);
// Those that ask other services are not here.
const PROVIDER = supportedFields<Provider>('envoy.extensions.common.aws.v3.AwsCredentialProvider', [
  'inline_credential',
  'credentials_file_provider',
  'environment_credential_provider',
  'custom_credential_provider_chain',
]);

const DEFAULT_EXPIRATION_S = 5;
/** Headers that proxies on the way may change. */
const EXCLUDED = ['x-forwarded-for', 'x-forwarded-proto', 'x-amzn-trace-id'];

export const awsRequestSigning = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.aws_request_signing',
  type: FIELDS.type,
  compile: (config, place) => ({ aws_request_signing: compile(config, place) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place) {
      refuseOtherFields(place, config, PER_ROUTE);
      const signing = compile(config.aws_request_signing ?? {}, place.field('aws_request_signing'));
      return { aws_request_signing: { ...signing, stat_prefix: config.stat_prefix } };
    },
  },
});

function compile(config: Message, place: Place): AwsSigning {
  refuseOtherFields(place, config, FIELDS);
  const { query_string: query } = config;
  const matchers = (name: 'match_excluded_headers' | 'match_included_headers'): StringMatch[] =>
    (config[name] ?? []).flatMap(
      (matcher: StringMatcher, index) =>
        compileStringMatcher(matcher, place.field(name).index(index)) ?? [],
    );
  return {
    service: config.service_name,
    region: regionOf(config, place.field('region')),
    host_rewrite: config.host_rewrite,
    unsigned_payload: config.use_unsigned_payload,
    excluded_headers: [
      ...EXCLUDED.map((value) => ({ value })),
      ...matchers('match_excluded_headers'),
    ],
    included_headers: matchers('match_included_headers'),
    ...(query && {
      query_expiration_s: Math.floor(
        wholeMs(query.expiration_time, DEFAULT_EXPIRATION_S * 1000) / 1000,
      ),
    }),
    credentials: credentialsOf(config.credential_provider, place.field('credential_provider')),
  };
}

function regionOf({ region = '' }: Message, place: Place): string {
  const found = region || process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION;
  if (found) return found;
  place.error(
    'AWS region is not set in xDS configuration and failed to retrieve from environment variable or AWS ' +
      'profile/config files.',
  );
  return '';
}

/** As they are when the configuration is read. */
function credentialsOf(provider: Provider | undefined, place: Place): AwsCredentials {
  if (provider) refuseOtherFields(place, provider, PROVIDER);
  const { inline_credential: inline, credentials_file_provider: file } = provider ?? {};
  if (inline) return inline;
  const isDefault = !provider?.custom_credential_provider_chain;
  if (isDefault || provider.environment_credential_provider) {
    const found = fromEnvironment();
    if (found) return found;
  }
  if (isDefault || file) {
    const source = file?.credentials_data_source;
    const text = source
      ? readTextSource(source, place.field('credentials_file_provider'))
      : fromDefaultFile(place);
    const found = text === undefined ? undefined : fromFile(text, file?.profile);
    if (found) return found;
  }
  place.error('credentials of AWS that other services give are not supported yet', {
    expected:
      'inline_credential, credentials_file_provider, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  });
  return {};
}

function fromEnvironment(): AwsCredentials | undefined {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env;
  if (!id || !secret) return undefined;
  return {
    access_key_id: id,
    secret_access_key: secret,
    session_token: process.env.AWS_SESSION_TOKEN,
  };
}

function fromDefaultFile(place: Place): string | undefined {
  const path = process.env.AWS_SHARED_CREDENTIALS_FILE || join(homedir(), '.aws', 'credentials');
  if (!statSync(path, { throwIfNoEntry: false })) return undefined;
  const bytes = readFile(path, place);
  return bytes && Buffer.from(bytes).toString();
}

/** Of the profile that is meant, of an INI file. */
function fromFile(text: string, profile = ''): AwsCredentials | undefined {
  const wanted = profile || process.env.AWS_PROFILE || 'default';
  const values = new Map<string, string>();
  let current = '';
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line);
    if (section) current = (section[1] ?? '').trim();
    const [, key = '', value = ''] = /^\s*([^=#;]+?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (current === wanted && key !== '') values.set(key.toLowerCase(), value);
  }
  const id = values.get('aws_access_key_id');
  const secret = values.get('aws_secret_access_key');
  if (!id || !secret) return undefined;
  return {
    access_key_id: id,
    secret_access_key: secret,
    session_token: values.get('aws_session_token'),
  };
}

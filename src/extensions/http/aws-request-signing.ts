// envoy.filters.http.aws_request_signing
import type {
  envoy_extensions_filters_http_aws_request_signing_v3_AwsRequestSigning as Message,
  envoy_extensions_filters_http_aws_request_signing_v3_AwsRequestSigningPerRoute as PerRoute,
  envoy_type_matcher_v3_StringMatcher as StringMatcher,
} from '../../../build/messages.gen.js';
import { compileAwsChain, placeOf } from '../../plan/aws/chain.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { compileStringMatcher } from '../../plan/match/matchers.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { AwsSigning, StringMatch } from '../../plan/plan.gen.js';

const PACKAGE = 'envoy.extensions.filters.http.aws_request_signing.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.AwsRequestSigning`, [
  'service_name',
  'region',
  'host_rewrite',
  'use_unsigned_payload',
  'match_excluded_headers',
  'match_included_headers',
  'query_string',
  'credential_provider',
  'signing_algorithm',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.AwsRequestSigningPerRoute`, [
  'aws_request_signing',
  'stat_prefix',
]);
const DEFAULT_EXPIRATION_S = 5;
/** Headers that proxies on the way may change. */
const EXCLUDED = ['x-forwarded-for', 'x-forwarded-proto', 'x-amzn-trace-id'];

export const awsRequestSigning = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.aws_request_signing',
  type: FIELDS.type,
  compile: (config, place, context) => ({ aws_request_signing: compile(config, place, context) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place, context) {
      refuseOtherFields(place, config, PER_ROUTE);
      const at = place.field('aws_request_signing');
      const signing = compile(config.aws_request_signing ?? {}, at, context);
      return { aws_request_signing: { ...signing, stat_prefix: config.stat_prefix } };
    },
  },
});

function compile(config: Message, place: Place, context: CompileContext): AwsSigning {
  refuseOtherFields(place, config, FIELDS);
  const region = regionOf(config, place.field('region'));
  const { query_string: query } = config;
  const matchers = (name: 'match_excluded_headers' | 'match_included_headers'): StringMatch[] =>
    (config[name] ?? []).flatMap(
      (matcher: StringMatcher, index) =>
        compileStringMatcher(matcher, place.field(name).index(index)) ?? [],
    );
  return {
    service: config.service_name,
    region,
    is_asymmetric: config.signing_algorithm === 'AWS_SIGV4A',
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
    ...credentialsOf(config, region, place.field('credential_provider'), context),
  };
}

function regionOf({ region = '', signing_algorithm: algorithm }: Message, place: Place): string {
  const ofKey = algorithm === 'AWS_SIGV4A' ? process.env.AWS_SIGV4A_SIGNING_REGION_SET : undefined;
  const found = region || ofKey || process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION;
  if (found) {
    if (algorithm !== 'AWS_SIGV4A' && /[*,]/.test(found)) refuseRegionSet(found, place);
    return found;
  }
  place.error(
    'AWS region is not set in xDS configuration and failed to retrieve from environment variable or AWS ' +
      'profile/config files.',
  );
  return '';
}

function refuseRegionSet(regions: string, place: Place): void {
  place.error(
    `SigV4 region string cannot contain wildcards or commas: found '${regions}'. Region sets can be specified when ` +
      'using signing_algorithm: AWS_SIGV4A.',
  );
}

/** As they are when the configuration is read, or as services give them from then on. */
function credentialsOf(
  { credential_provider: provider }: Message,
  region: string,
  place: Place,
  context: CompileContext,
): Pick<AwsSigning, 'credentials' | 'providers'> {
  const chain = compileAwsChain(provider, region, place);
  if (chain.credentials) return { credentials: chain.credentials };
  if (chain.providers.length === 0) return { credentials: {} };
  const asked = [chain, ...chain.providers.flatMap((one) => ('chain' in one ? one.chain : []))];
  const id = context.live.add({ kind: 'aws', chain });
  context.holdLive(id);
  return {
    credentials: { id, is_pending: true },
    providers: [...new Set(asked.flatMap(({ providers }) => providers.map(placeOf)))],
  };
}

// envoy.filters.http.credential_injector
import type {
  envoy_extensions_filters_http_credential_injector_v3_CredentialInjector as Message,
  envoy_extensions_http_injected_credentials_generic_v3_Generic as Generic,
  envoy_extensions_http_injected_credentials_oauth2_v3_OAuth2 as OAuth2,
  envoy_extensions_http_injected_credentials_oauth2_v3_OAuth2_ClientCredentials as ClientCredentials,
} from '../../../build/messages.gen.js';
import {
  defineExtension,
  type CompileContext,
  type HttpFilterExtension,
} from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { compileHttpUri } from '../../plan/jwt/remote-jwks.js';
import type { TokenSource } from '../../plan/live-sources.js';
import { compileSecret } from '../../plan/secret-text.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { CredentialInjector } from '../../plan/plan.gen.js';
import { nameOr } from '../../plan/message/open-enum.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.http.credential_injector.v3.CredentialInjector',
  ['overwrite', 'allow_request_without_credential', 'credential'],
);
const GENERIC = supportedFields<Generic>(
  'envoy.extensions.http.injected_credentials.generic.v3.Generic',
  ['credential', 'header', 'header_value_prefix'],
);

const OAUTH2 = supportedFields<OAuth2>(
  'envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2',
  [
    'token_endpoint',
    'scopes',
    'client_credentials',
    'token_fetch_retry_interval',
    'endpoint_params',
  ],
);
const CLIENT = supportedFields<ClientCredentials>(
  'envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2.ClientCredentials',
  ['client_id', 'client_secret', 'auth_type'],
);

const DEFAULT_RETRY_MS = 2000;

export const credentialInjector: HttpFilterExtension = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.credential_injector',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const state = config.credential?.typed_config;
    const at = place.field('credential').field('typed_config');
    const compiled =
      state?.$type === GENERIC.type
        ? compileGeneric(state as Generic, at.within(GENERIC.type), context)
        : state?.$type === OAUTH2.type
          ? compileOAuth2(state as OAuth2, at.within(OAUTH2.type), context)
          : {};
    if (state && state.$type !== GENERIC.type && state.$type !== OAUTH2.type) {
      at.error(`the credential ${state.$type ?? ''} is not supported yet`, {
        expected: `${GENERIC.type} or ${OAUTH2.type}`,
      });
    }
    return {
      credential_injector: {
        overwrites: config.overwrite,
        allows_without: config.allow_request_without_credential,
        ...compiled,
      },
    };
  },
});

function compileGeneric(
  config: Generic,
  place: Place,
  context: CompileContext,
): CredentialInjector {
  refuseOtherFields(place, config, GENERIC);
  return {
    header: (config.header || 'authorization').toLowerCase(),
    prefix: config.header_value_prefix,
    credential: compileSecret(config.credential ?? {}, place.field('credential'), context),
  };
}

function compileOAuth2(config: OAuth2, place: Place, context: CompileContext): CredentialInjector {
  refuseOtherFields(place, config, OAUTH2);
  const { client_credentials: client = {} } = config;
  const at = place.field('client_credentials');
  refuseOtherFields(at, client, CLIENT);
  const auth = nameOr(client.auth_type, 'BASIC_AUTH');
  const id = context.live.add({
    kind: 'token',
    endpoint: {
      ...compileHttpUri(config.token_endpoint ?? {}, place.field('token_endpoint'), context),
      retries: 0,
      backOff: { baseMs: 0, maxMs: 0 },
    },
    clientId: client.client_id ?? '',
    auth,
    ...(auth === 'TLS_CLIENT_AUTH' ? { secret: () => '' } : secretOf(client, at, context)),
    scopes: config.scopes ?? [],
    params: (config.endpoint_params ?? []).map(({ name = '', value = '' }) => ({ name, value })),
    retryMs: wholeMs(config.token_fetch_retry_interval, DEFAULT_RETRY_MS),
    statPrefix: `http.${context.httpStatPrefix ?? ''}.credential_injector.oauth2.`,
    localAddress: context.localAddress,
  });
  context.holdLive(id);
  return { header: 'authorization', credential: { id }, counts_tokens: true };
}

function secretOf(
  { client_secret: config = {} }: ClientCredentials,
  place: Place,
  context: CompileContext,
): Pick<TokenSource, 'secret'> {
  const at = place.field('client_secret');
  const { live } = context;
  const wrong = 'Invalid oauth2 client secret configuration';
  const secret = compileSecret(config, at, context, wrong, 'own');
  if (!secret?.id) return { secret: () => secret?.value ?? '' };
  const id = Number(secret.id);
  return { secret: () => live.secretTextOf(id) ?? '' };
}

// envoy.filters.http.credential_injector
import type {
  envoy_extensions_filters_http_credential_injector_v3_CredentialInjector as Message,
  envoy_extensions_http_injected_credentials_generic_v3_Generic as Generic,
} from '../../../build/messages.gen.js';
import {
  defineExtension,
  type CompileContext,
  type HttpFilterExtension,
} from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { readTextSource } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { CredentialInjector } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.http.credential_injector.v3.CredentialInjector',
  ['overwrite', 'allow_request_without_credential', 'credential'],
);
const GENERIC = supportedFields<Generic>(
  'envoy.extensions.http.injected_credentials.generic.v3.Generic',
  ['credential', 'header', 'header_value_prefix'],
);

export const credentialInjector: HttpFilterExtension = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.credential_injector',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const state = config.credential?.typed_config;
    const at = place.field('credential').field('typed_config');
    if (state && state.$type !== GENERIC.type) {
      at.error(`the credential ${state.$type} is not supported yet`, { expected: GENERIC.type });
    }
    const generic = state?.$type === GENERIC.type ? (state as Generic) : {};
    return {
      credential_injector: {
        overwrites: config.overwrite,
        allows_without: config.allow_request_without_credential,
        ...compileGeneric(generic, at.within(GENERIC.type), context),
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
  const { credential = {} } = config;
  const header = (config.header || 'authorization').toLowerCase();
  const at = place.field('credential');
  if (credential.sds_config) {
    at.field('sds_config').error('credentials that come by SDS are not supported yet', {
      expected: 'the name of one of static_resources.secrets with generic_secret',
    });
    return { header };
  }
  const found = context.secrets.find('generic_secret', credential, at);
  const text = found && readTextSource(found.message.secret, found.place.field('secret'));
  if (text === undefined || text === '') return { header };
  return { header, prefix: config.header_value_prefix, credential: { value: text } };
}

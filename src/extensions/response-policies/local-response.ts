// envoy.extensions.http.custom_response.local_response_policy: an answer that is made here.
import type { envoy_extensions_http_custom_response_local_response_policy_v3_LocalResponsePolicy as Message } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import { compileBodyFormat } from '../../plan/format-string/body-format.js';
import { readTextSource } from '../../plan/message/data-source.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { ResponsePolicy } from '../../plan/plan.gen.js';
import { compileAddition } from '../../plan/route/header-mutations.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy',
  [
    'body',
    'body_format',
    'status_code',
    'response_headers_to_add',
    'preserve_response_code_details',
    'response_code_details',
  ],
);

export const localResponsePolicy = defineExtension<Message, ResponsePolicy | undefined>({
  name: 'envoy.extensions.http.custom_response.local_response_policy',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const body = readTextSource(config.body, place.field('body'));
    if (body === undefined) return undefined;
    const format =
      config.body_format &&
      compileBodyFormat(config.body_format, body, place.field('body_format'), context);
    const at = place.field('response_headers_to_add');
    return {
      status: config.status_code,
      response_add: (config.response_headers_to_add ?? []).flatMap(
        (option, index) => compileAddition(option, at.index(index)) ?? [],
      ),
      body,
      body_format: format,
      details: config.response_code_details,
      keeps_details: config.preserve_response_code_details,
    };
  },
});

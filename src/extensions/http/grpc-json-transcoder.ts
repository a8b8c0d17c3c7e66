// envoy.filters.http.grpc_json_transcoder
import type {
  envoy_extensions_filters_http_grpc_json_transcoder_v3_GrpcJsonTranscoder as Config,
  envoy_extensions_filters_http_grpc_json_transcoder_v3_GrpcJsonTranscoder_PrintOptions as PrintOptions,
  envoy_extensions_filters_http_grpc_json_transcoder_v3_GrpcJsonTranscoder_RequestValidationOptions as Validation,
  envoy_extensions_filters_http_grpc_json_transcoder_v3_GrpcJsonTranscoder_UrlUnescapeSpec as Unescape,
} from '../../../build/messages.gen.js';
import { nearestName } from '../../base/suggest.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { readFile } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { GrpcJsonTranscoder } from '../../plan/plan.gen.js';
import { DescriptorPool, type Method } from '../../plan/transcoder/descriptor-pool.js';
import { readDescriptorSet, type HttpRule } from '../../plan/transcoder/descriptor-set.js';
import {
  bindingsOf,
  methodPlan,
  ruledMethod,
  type RuledMethod,
} from '../../plan/transcoder/http-rules.js';
import { STATUS_FILES } from '../../plan/transcoder/status-files.js';

const TYPE = 'envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder';
const FIELDS = supportedFields<Config>(TYPE, [
  'proto_descriptor',
  'proto_descriptor_bin',
  'services',
  'print_options',
  'match_incoming_request_route',
  'ignored_query_parameters',
  'auto_mapping',
  'ignore_unknown_query_parameters',
  'convert_grpc_status',
  'url_unescape_spec',
  'query_param_unescape_plus',
  'match_unregistered_custom_verb',
  'request_validation_options',
  'case_insensitive_enum_parsing',
  'max_request_body_size',
  'max_response_body_size',
  'capture_unknown_query_parameters',
]);
const PRINT = supportedFields<PrintOptions>(`${TYPE}.PrintOptions`, [
  'add_whitespace',
  'always_print_primitive_fields',
  'always_print_enums_as_ints',
  'preserve_proto_field_names',
  'stream_newline_delimited',
  'stream_sse_style_delimited',
]);
const VALIDATION = supportedFields<Validation>(`${TYPE}.RequestValidationOptions`, [
  'reject_unknown_method',
  'reject_unknown_query_parameters',
  'reject_binding_body_field_collisions',
]);
const UNESCAPE: Readonly<Record<Unescape, NonNullable<GrpcJsonTranscoder['unescape']>>> = {
  ALL_CHARACTERS_EXCEPT_RESERVED: 0,
  ALL_CHARACTERS_EXCEPT_SLASH: 1,
  ALL_CHARACTERS: 2,
};
const STATUS = 'google.rpc.Status';

export const grpcJsonTranscoder = defineHttpFilter<Config, Config>({
  name: 'envoy.filters.http.grpc_json_transcoder',
  type: FIELDS.type,
  compile: (config, place) => ({ grpc_json_transcoder: compile(config, place) ?? {} }),
  byRoute: {
    type: FIELDS.type,
    compile(config, place) {
      const plan = compile(config, place);
      return plan && { grpc_json_transcoder: plan };
    },
  },
});

/** Undefined after an error. */
function compile(config: Config, place: Place): GrpcJsonTranscoder | undefined {
  refuseOtherFields(place, config, FIELDS);
  const print = config.print_options ?? {};
  const validation = config.request_validation_options ?? {};
  refuseOtherFields(place.field('print_options'), print, PRINT);
  refuseOtherFields(place.field('request_validation_options'), validation, VALIDATION);
  // Without services the filter does nothing, whatever its descriptors are.
  if (!config.services?.length) return {};
  const pool = readPool(config, place);
  const methods = pool && ruledMethods(pool, config, place);
  if (!methods) return undefined;
  const tables = pool.tables(
    methods.flatMap(({ method }) => [method.input, method.output]),
    config.convert_grpc_status ?? false,
  );
  return {
    methods: methods.map((method) => methodPlan(method, tables)),
    bindings: methods.flatMap(({ rule }, index) => bindingsOf(rule, index) ?? []),
    messages: [...tables.messages],
    enums: [...tables.enums],
    ignored_query_parameters: config.ignored_query_parameters,
    ignores_unknown_query_parameters: config.ignore_unknown_query_parameters,
    captures_unknown_query_parameters: config.capture_unknown_query_parameters,
    unescape: UNESCAPE[config.url_unescape_spec ?? 'ALL_CHARACTERS_EXCEPT_RESERVED'],
    unescapes_plus: config.query_param_unescape_plus,
    matches_unregistered_verbs: config.match_unregistered_custom_verb,
    converts_status: config.convert_grpc_status,
    keeps_route: config.match_incoming_request_route,
    rejects_unknown_methods: validation.reject_unknown_method,
    rejects_unknown_query_parameters: validation.reject_unknown_query_parameters,
    rejects_collisions: validation.reject_binding_body_field_collisions,
    ignores_case_of_enums: config.case_insensitive_enum_parsing,
    adds_whitespace: print.add_whitespace,
    prints_defaults: print.always_print_primitive_fields,
    prints_enums_as_numbers: print.always_print_enums_as_ints,
    keeps_field_names: print.preserve_proto_field_names,
    delimits_by_newlines: print.stream_newline_delimited,
    delimits_as_events: print.stream_sse_style_delimited,
    max_request_bytes: config.max_request_body_size,
    max_response_bytes: config.max_response_body_size,
    ...(config.convert_grpc_status && { status_message: tables.placeOf(STATUS) }),
  };
}

function readPool(config: Config, place: Place): DescriptorPool | undefined {
  const isFile = config.proto_descriptor !== undefined;
  const at = place.field(isFile ? 'proto_descriptor' : 'proto_descriptor_bin');
  const bytes = isFile ? readFile(config.proto_descriptor ?? '', at) : config.proto_descriptor_bin;
  if (!bytes) return undefined;
  const files = readDescriptorSet(bytes);
  if (!files) {
    at.error('transcoding_filter: Unable to parse proto descriptor', {
      expected: 'a google.protobuf.FileDescriptorSet, as protoc --descriptor_set_out writes it',
    });
    return undefined;
  }
  const pool = new DescriptorPool();
  for (const file of files) {
    const wrong = pool.add(file);
    if (wrong === undefined) continue;
    at.error(`transcoding_filter: Unable to build proto descriptor pool: ${wrong}`, {
      expected: 'all files that these import, each before it is (protoc --include_imports)',
    });
    return undefined;
  }
  if (config.convert_grpc_status)
    for (const { message, file } of STATUS_FILES) if (!pool.hasMessage(message)) pool.add(file);
  return pool;
}

/** All methods of the services that are asked for; undefined after an error. */
function ruledMethods(
  pool: DescriptorPool,
  config: Config,
  place: Place,
): readonly RuledMethod[] | undefined {
  const found: RuledMethod[] = [];
  let isFine = true;
  for (const [index, service] of (config.services ?? []).entries()) {
    const at = place.field('services').index(index);
    const methods = pool.methodsOf(service);
    if (!methods) {
      isFine = false;
      at.error(`transcoding_filter: Could not find '${service}' in the proto descriptor`, {
        suggestion: nearestName(service, pool.serviceNames()),
      });
      continue;
    }
    for (const method of methods) {
      const ruled = ruledMethod(pool, method, ruleOf(method, config.auto_mapping ?? false));
      if (typeof ruled === 'string') {
        isFine = false;
        at.error(`transcoding_filter: Cannot register '${method.name}': ${ruled}`);
      } else if (!bindingsOf(ruled.rule, 0)) {
        isFine = false;
        at.error(`transcoding_filter: Cannot register '${method.name}' to path matcher`, {
          expected: 'paths such as /v1/{name=shelves/*}/books:list',
        });
      } else {
        found.push(ruled);
      }
    }
  }
  return isFine ? found : undefined;
}

function ruleOf({ name, descriptor }: Method, autoMapping: boolean): HttpRule {
  if (descriptor.options?.http) return descriptor.options.http;
  if (!autoMapping) return {};
  const dot = name.lastIndexOf('.');
  return { post: `/${name.slice(0, dot)}/${name.slice(dot + 1)}`, body: '*' };
}

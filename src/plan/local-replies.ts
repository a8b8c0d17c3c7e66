// What a connection manager makes of answers that are the proxy's own.
import type {
  envoy_extensions_filters_network_http_connection_manager_v3_LocalReplyConfig as LocalReplyConfig,
  envoy_extensions_filters_network_http_connection_manager_v3_ResponseMapper as ResponseMapper,
} from '../../build/messages.gen.js';
import { compileAccessLogFilter } from './access-log/access-log-filter.js';
import type { CompileContext } from './extension.js';
import { compileReplyFormat } from './format-string/format-string.js';
import { readDataSource } from './message/data-source.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { LocalReplies, ReplyMapper } from './plan.gen.js';
import { compileAddition } from './route/header-mutations.js';

const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3';
const CONFIG = supportedFields<LocalReplyConfig>(`${HCM}.LocalReplyConfig`, [
  'mappers',
  'body_format',
]);
const MAPPER = supportedFields<ResponseMapper>(`${HCM}.ResponseMapper`, [
  'filter',
  'status_code',
  'body',
  'body_format_override',
  'headers_to_add',
]);

export function compileLocalReplies(
  config: LocalReplyConfig,
  place: Place,
  context: CompileContext,
): LocalReplies {
  refuseOtherFields(place, config, CONFIG);
  const { mappers = [], body_format: format } = config;
  return {
    mappers: mappers.map((mapper, index) =>
      compileMapper(mapper, place.field('mappers').index(index), context),
    ),
    ...(format && { format: compileReplyFormat(format, place.field('body_format'), context) }),
  };
}

function compileMapper(mapper: ResponseMapper, place: Place, context: CompileContext): ReplyMapper {
  refuseOtherFields(place, mapper, MAPPER);
  const { filter, body, body_format_override: format, headers_to_add: headers = [] } = mapper;
  return {
    ...(filter && { filter: compileAccessLogFilter(filter, place.field('filter'), context) }),
    status: mapper.status_code,
    ...(body && { body: readDataSource(body, place.field('body')) }),
    ...(format && {
      format: compileReplyFormat(format, place.field('body_format_override'), context),
    }),
    headers: headers.flatMap(
      (option, index) => compileAddition(option, place.field('headers_to_add').index(index)) ?? [],
    ),
  };
}

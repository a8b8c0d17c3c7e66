// envoy.filters.http.ip_tagging
import type {
  envoy_extensions_filters_http_ip_tagging_v3_IPTagging as Message,
  envoy_extensions_filters_http_ip_tagging_v3_IPTagging_IpTagHeader as TagHeader,
  envoy_extensions_filters_http_ip_tagging_v3_IPTagging_IPTag as Tag,
} from '../../../build/messages.gen.js';
import { compileCidrRanges } from '../../plan/address/address.js';
import { defineExtension, type HttpFilterExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { IpTagging_Requests as Requests } from '../../plan/plan.gen.js';

const TYPE = 'envoy.extensions.filters.http.ip_tagging.v3.IPTagging';
const FIELDS = supportedFields<Message>(TYPE, ['request_type', 'ip_tags', 'ip_tag_header']);
const TAG = supportedFields<Tag>(`${TYPE}.IPTag`, ['ip_tag_name', 'ip_list']);
const HEADER = supportedFields<TagHeader>(`${TYPE}.IpTagHeader`, ['header', 'action']);

const REQUESTS = {
  BOTH: Requests.BOTH,
  INTERNAL: Requests.INTERNAL,
  EXTERNAL: Requests.EXTERNAL,
} as const;

export const ipTagging: HttpFilterExtension = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.ip_tagging',
  type: TYPE,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const { ip_tags: tags = [], ip_tag_header: header } = config;
    if (tags.length === 0 && !config.ip_tags_datasource) {
      place.error(
        'HTTP IP Tagging Filter requires either ip_tags or ip_tags_datasource to be specified.',
      );
    }
    if (header) refuseOtherFields(place.field('ip_tag_header'), header, HEADER);
    return {
      ip_tagging: {
        requests: REQUESTS[config.request_type ?? 'BOTH'],
        tags: tags.map((tag, index) => {
          const at = place.field('ip_tags').index(index);
          refuseOtherFields(at, tag, TAG);
          return {
            name: tag.ip_tag_name,
            ranges: compileCidrRanges(tag.ip_list, at.field('ip_list')),
          };
        }),
        header: header?.header?.toLowerCase(),
        appends: header?.action === 'APPEND_IF_EXISTS_OR_ADD',
      },
    };
  },
});

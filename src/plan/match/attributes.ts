// What services are told of requests by the names that the real server has for it ("request.path"):
// attributes, of which each is one value. Expressions of CEL that are more than that are refused.
import { nearestName } from '../../base/suggest.js';
import { compileFormat } from '../format/format.js';
import type { Place } from '../message/place.js';
import { ProcessingAttribute_Kind, type Format, type ProcessingAttribute } from '../plan.gen.js';

const { TEXT, NUMBER } = ProcessingAttribute_Kind;

interface Attribute {
  readonly kind?: ProcessingAttribute_Kind;
  readonly format?: string;
  /** It has a value, be it an empty one, whatever the request is. */
  readonly isAlways?: boolean;
}

const text = (format: string): Attribute => ({ format });
const always = (format: string): Attribute => ({ format, isAlways: true });
const number = (format: string): Attribute => ({ kind: NUMBER, format });
const kind = (one: ProcessingAttribute_Kind): Attribute => ({ kind: one });
/** What is no value by itself reads so. */
const map: Attribute = { format: 'CelMap value', isAlways: true };

const ATTRIBUTES: Readonly<Record<string, Attribute>> = {
  request: map,
  'request.path': text('%REQ(:PATH)%'),
  'request.url_path': text('%PATH(NQ)%'),
  'request.host': text('%REQ(:AUTHORITY)%'),
  'request.scheme': text('%REQ(:SCHEME)%'),
  'request.method': text('%REQ(:METHOD)%'),
  'request.headers': map,
  'request.referer': text('%REQ(REFERER)%'),
  'request.useragent': text('%REQ(USER-AGENT)%'),
  'request.time': kind(ProcessingAttribute_Kind.REQUEST_TIME),
  'request.id': text('%REQ(X-REQUEST-ID)%'),
  'request.protocol': text('%PROTOCOL%'),
  'request.query': kind(ProcessingAttribute_Kind.QUERY),
  'request.size': kind(ProcessingAttribute_Kind.REQUEST_SIZE),
  'request.total_size': kind(ProcessingAttribute_Kind.REQUEST_TOTAL_SIZE),
  response: map,
  'response.code': number('%RESPONSE_CODE%'),
  'response.code_details': text('%RESPONSE_CODE_DETAILS%'),
  'response.flags': kind(ProcessingAttribute_Kind.RESPONSE_FLAGS),
  'response.grpc_status': kind(ProcessingAttribute_Kind.RESPONSE_GRPC_STATUS),
  'response.headers': map,
  'response.trailers': map,
  'response.size': kind(ProcessingAttribute_Kind.RESPONSE_SIZE),
  'response.total_size': kind(ProcessingAttribute_Kind.RESPONSE_TOTAL_SIZE),
  source: map,
  'source.address': text('%DOWNSTREAM_REMOTE_ADDRESS%'),
  'source.port': number('%DOWNSTREAM_REMOTE_PORT%'),
  destination: map,
  'destination.address': text('%DOWNSTREAM_LOCAL_ADDRESS%'),
  'destination.port': number('%DOWNSTREAM_LOCAL_PORT%'),
  connection: map,
  'connection.id': number('%CONNECTION_ID%'),
  'connection.mtls': kind(ProcessingAttribute_Kind.IS_MUTUAL_TLS),
  'connection.requested_server_name': always('%REQUESTED_SERVER_NAME%'),
  'connection.tls_version': text('%DOWNSTREAM_TLS_VERSION%'),
  'connection.subject_local_certificate': text('%DOWNSTREAM_LOCAL_SUBJECT%'),
  'connection.subject_peer_certificate': text('%DOWNSTREAM_PEER_SUBJECT%'),
  'connection.dns_san_local_certificate': text('%DOWNSTREAM_LOCAL_DNS_SAN%'),
  'connection.dns_san_peer_certificate': text('%DOWNSTREAM_PEER_DNS_SAN%'),
  'connection.uri_san_local_certificate': text('%DOWNSTREAM_LOCAL_URI_SAN%'),
  'connection.uri_san_peer_certificate': text('%DOWNSTREAM_PEER_URI_SAN%'),
  'connection.sha256_peer_certificate_digest': text('%DOWNSTREAM_PEER_FINGERPRINT_256%'),
  'connection.termination_details': text('%CONNECTION_TERMINATION_DETAILS%'),
  upstream: map,
  'upstream.address': text('%UPSTREAM_REMOTE_ADDRESS%'),
  'upstream.port': number('%UPSTREAM_REMOTE_PORT%'),
  'upstream.local_address': text('%UPSTREAM_LOCAL_ADDRESS%'),
  'upstream.tls_version': text('%UPSTREAM_TLS_VERSION%'),
  'upstream.subject_local_certificate': text('%UPSTREAM_LOCAL_SUBJECT%'),
  'upstream.subject_peer_certificate': text('%UPSTREAM_PEER_SUBJECT%'),
  'upstream.dns_san_local_certificate': text('%UPSTREAM_LOCAL_DNS_SAN%'),
  'upstream.dns_san_peer_certificate': text('%UPSTREAM_PEER_DNS_SAN%'),
  'upstream.uri_san_local_certificate': text('%UPSTREAM_LOCAL_URI_SAN%'),
  'upstream.uri_san_peer_certificate': text('%UPSTREAM_PEER_URI_SAN%'),
  'upstream.transport_failure_reason': always('%UPSTREAM_TRANSPORT_FAILURE_REASON%'),
  'upstream.request_attempt_count': number('%UPSTREAM_REQUEST_ATTEMPT_COUNT%'),
  xds: map,
  'xds.cluster_name': text('%UPSTREAM_CLUSTER_RAW%'),
  'xds.route_name': always('%ROUTE_NAME%'),
  'xds.filter_chain_name': always('%FILTER_CHAIN_NAME%'),
  filter_state: map,
  null: always('NULL'),
};
const HEADER = /^request\.headers\[(?:'([^'"\\]+)'|"([^'"\\]+)")\]$/;

export function compileAttributes(
  names: readonly string[] | undefined,
  place: Place,
): ProcessingAttribute[] {
  const known = new Set(names);
  return [...known].flatMap((name) => {
    const at = place.index(names?.indexOf(name) ?? 0);
    const attribute = attributeOf(name);
    if (!attribute) {
      at.error(`attribute '${name}' is not supported`, {
        expected: 'the name of an attribute, or request.headers["name"]',
        suggestion: nearestName(name, new Set(Object.keys(ATTRIBUTES))),
      });
      return [];
    }
    return {
      name,
      kind: attribute.kind ?? TEXT,
      value: formatOf(attribute.format ?? '', attribute.isAlways !== true),
    };
  });
}

function attributeOf(name: string): Attribute | undefined {
  const header = HEADER.exec(name);
  if (header) return text(`%REQ(${header[1] ?? header[2] ?? ''})%`);
  return Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined;
}

function formatOf(text: string, omitsEmpty: boolean): Format {
  const compiled = compileFormat(text, 'http_log');
  return { ...('format' in compiled && compiled.format), omit_empty: omitsEmpty };
}

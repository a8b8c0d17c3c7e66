// Which connections a filter chain takes, and whether two chains would take the same.
import type { envoy_config_listener_v3_FilterChainMatch as MatchMessage } from '../../../build/messages.gen.js';
import { compileCidrRanges } from '../address/address.js';
import { formatIp } from '../address/ip.js';
import type { Place } from '../message/place.js';
import { FilterChainMatch_SourceType, type CidrRange, type FilterChainMatch } from '../plan.gen.js';
import { refuseField, refuseOtherFields, supportedFields } from '../message/supported-fields.js';

// Server names are only known where TLS is looked into, application protocols there and where an
// HTTP inspector looks: chains that ask for them take nothing elsewhere, as in the real server.
const MATCH = supportedFields<MatchMessage>('envoy.config.listener.v3.FilterChainMatch', [
  'destination_port',
  'prefix_ranges',
  'direct_source_prefix_ranges',
  'source_type',
  'source_prefix_ranges',
  'source_ports',
  'server_names',
  'application_protocols',
  'transport_protocol',
]);

export function compileFilterChainMatch(message: MatchMessage, place: Place): FilterChainMatch {
  refuseOtherFields(place, message, MATCH);
  // As the real server: that it is there is enough.
  if (message.suffix_len === 0) refuseField(place, 'suffix_len', 0, MATCH);
  return {
    destination_port: message.destination_port,
    destination: compileCidrRanges(message.prefix_ranges, place.field('prefix_ranges')),
    source_type: FilterChainMatch_SourceType[message.source_type ?? 'ANY'],
    direct_source: compileCidrRanges(
      message.direct_source_prefix_ranges,
      place.field('direct_source_prefix_ranges'),
    ),
    source: compileCidrRanges(message.source_prefix_ranges, place.field('source_prefix_ranges')),
    source_ports: message.source_ports,
    server_names: (message.server_names ?? []).map(serverName),
    transport_protocol: message.transport_protocol,
    application_protocols: message.application_protocols,
  };
}

/** As the real server: what begins with a dot is the end of names, as behind an asterisk. */
function serverName(text: string): string {
  const name = text.toLowerCase();
  return name.startsWith('.') ? `*${name}` : name;
}

/** `address`: the listener's. */
export function refusePartialWildcards(match: MatchMessage, address: string, place: Place): void {
  (match.server_names ?? []).forEach((name, index) => {
    if (!name.includes('*') || name.startsWith('*.')) return;
    place
      .field('server_names')
      .index(index)
      .error(
        `error adding listener '${address}': partial wildcards are not supported in "server_names"`,
        { expected: 'a name, or "*." and the end of names' },
      );
  });
}

/**
 * Every combination of single criteria that a match takes, as text: no two of a listener's chains
 * may have one in common, nor may one chain have it twice.
 */
export function combinationsOf(match: FilterChainMatch): string[] {
  const ranges = (list: readonly CidrRange[] | undefined): string[] =>
    (list ?? []).map((range) => `${formatIp(range.ip!)}/${range.prefix_length ?? 0}`);
  const criteria = [
    [`${match.destination_port ?? 0}`],
    ranges(match.destination),
    [...(match.server_names ?? [])],
    [match.transport_protocol ?? ''],
    [...(match.application_protocols ?? [])],
    ranges(match.direct_source),
    [`${match.source_type ?? 0}`],
    ranges(match.source),
    (match.source_ports ?? []).map(String),
  ];
  let combinations = [''];
  for (const values of criteria) {
    const choices = values.length > 0 ? values : ['any'];
    combinations = combinations.flatMap((head) => choices.map((value) => `${head} ${value}`));
  }
  return combinations;
}

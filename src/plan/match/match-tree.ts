// Matcher trees (xds.type.matcher.v3.Matcher): of predicates, of maps by an input's value, of ranges of
// addresses and of domains. Who has one says which inputs and actions it knows.
import type {
  Any,
  xds_core_v3_CidrRange as CidrRangeMessage,
  envoy_extensions_matching_input_matchers_consistent_hashing_v3_ConsistentHashing as ConsistentHashing,
  envoy_extensions_matching_input_matchers_ip_v3_Ip as IpMatcher,
  envoy_extensions_matching_input_matchers_metadata_v3_Metadata as MetadataMatch,
  envoy_extensions_matching_input_matchers_runtime_fraction_v3_RuntimeFraction as RuntimeFraction,
  xds_type_matcher_v3_IPMatcher as IpTree,
  xds_type_matcher_v3_Matcher as MatcherMessage,
  xds_type_matcher_v3_Matcher_MatcherList_Predicate as PredicateMessage,
  xds_type_matcher_v3_Matcher_MatcherList_Predicate_SinglePredicate as SinglePredicate,
  xds_type_matcher_v3_Matcher_MatcherTree as TreeMessage,
  xds_type_matcher_v3_Matcher_OnMatch as OnMatch,
  xds_type_matcher_v3_ServerNameMatcher as DomainTree,
  xds_type_matcher_v3_StringMatcher as StringMatcherMessage,
} from '../../../build/messages.gen.js';
import { compileCidrRange, compileCidrRanges } from '../address/address.js';
import { PATH_SEPARATOR } from '../format/metadata-values.js';
import { unregistered } from '../known-extensions.js';
import type { Place } from '../message/place.js';
import {
  MatchInput_Kind,
  MatchNode_Kind,
  MatchPredicate_Kind,
  type MatchEdge,
  type MatchInput,
  type MatchNode,
  type MatchOutcome,
  type MatchPredicate,
  type MatchTree,
} from '../plan.gen.js';
import type { RuntimeReads } from '../runtime/runtime-reads.js';
import { compileStringMatcher } from './matchers.js';
import { compileValueMatcher } from './metadata.js';
import { DENOMINATORS } from '../message/numbers.js';

/** An extension, as trees name it. */
interface Named {
  readonly name?: string;
  readonly typed_config?: Any;
}

/** What a tree may ask, and where it may end. */
export interface MatchTenant {
  /** By their messages' full names. Undefined after an error. */
  readonly inputs: ReadonlyMap<string, (config: Any, place: Place) => MatchInput | undefined>;
  /** What a tree is refused with: "cannot create a filter chain matcher: ". */
  readonly complaint: string;
  /** What its shares follow; absent: it may have none. */
  readonly runtime?: RuntimeReads;
  /** The number of an action; undefined after an error. `place`: of its typed_config. */
  action(config: Any, name: string, place: Place): number | undefined;
}

/** Whose values are addresses. */
const ADDRESSES: ReadonlySet<MatchInput_Kind | undefined> = new Set([
  MatchInput_Kind.DESTINATION_IP,
  MatchInput_Kind.SOURCE_IP,
  MatchInput_Kind.DIRECT_SOURCE_IP,
]);
const IP = 'envoy.extensions.matching.input_matchers.ip.v3.Ip';
const METADATA = 'envoy.extensions.matching.input_matchers.metadata.v3.Metadata';
const HASHING = 'envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing';
const FRACTION = 'envoy.extensions.matching.input_matchers.runtime_fraction.v3.RuntimeFraction';
const CEL = 'xds.type.matcher.v3.CelMatcher';
const IP_TREE = 'xds.type.matcher.v3.IPMatcher';
const DOMAIN_TREE = 'xds.type.matcher.v3.ServerNameMatcher';

/** What is wrong goes to `place`; the result is only used when nothing is. */
export function compileMatchTree(
  message: MatcherMessage,
  place: Place,
  tenant: MatchTenant,
): MatchTree {
  const builder = new TreeBuilder(tenant);
  builder.add(message, place);
  return { nodes: builder.nodes, ip_stat_prefixes: [...builder.ipStatPrefixes] };
}

class TreeBuilder {
  readonly nodes: MatchNode[] = [];
  readonly ipStatPrefixes = new Set<string>();
  readonly #tenant: MatchTenant;

  constructor(tenant: MatchTenant) {
    this.#tenant = tenant;
  }

  /** The number of the node that it becomes; those below it have higher ones. */
  add(message: MatcherMessage, place: Place): number {
    const number = this.nodes.length;
    this.nodes.push({});
    const { matcher_list: list, matcher_tree: tree, on_no_match: otherwise } = message;
    const node = tree
      ? this.#byValue(tree, place.field('matcher_tree'))
      : { kind: MatchNode_Kind.LIST, edges: this.#byPredicates(list?.matchers ?? [], place) };
    this.nodes[number] = {
      ...node,
      ...(otherwise && { otherwise: this.#outcome(otherwise, place.field('on_no_match')) }),
    };
    return number;
  }

  #outcome(message: OnMatch, place: Place): MatchOutcome {
    if (message.matcher) return { node: this.add(message.matcher, place.field('matcher')) };
    const { name = '', typed_config: config } = message.action ?? {};
    const at = place.field('action');
    if (config) return { action: this.#tenant.action(config, name, at.field('typed_config')) ?? 0 };
    this.#refuse(at, unregistered(name, ''));
    return {};
  }

  #byPredicates(
    matchers: readonly {
      readonly predicate?: PredicateMessage;
      readonly on_match?: OnMatch;
    }[],
    place: Place,
  ): MatchEdge[] {
    return matchers.map(({ predicate = {}, on_match: outcome = {} }, index) => {
      const at = place.field('matcher_list').field('matchers').index(index);
      return {
        predicate: this.#predicate(predicate, at.field('predicate')),
        outcome: this.#outcome(outcome, at.field('on_match')),
      };
    });
  }

  #predicate(message: PredicateMessage, place: Place): MatchPredicate {
    const { or_matcher: or, and_matcher: and, not_matcher: not } = message;
    if (not) {
      const parts = [this.#predicate(not, place.field('not_matcher'))];
      return { kind: MatchPredicate_Kind.NOT, parts };
    }
    const list = or ?? and;
    if (list) {
      const at = place.field(or ? 'or_matcher' : 'and_matcher').field('predicate');
      const parts = (list.predicate ?? []).map((one, i) => this.#predicate(one, at.index(i)));
      return { kind: or ? MatchPredicate_Kind.OR : MatchPredicate_Kind.AND, parts };
    }
    return this.#single(message.single_predicate ?? {}, place.field('single_predicate'));
  }

  #single(message: SinglePredicate, place: Place): MatchPredicate {
    const input = this.#input(message.input ?? {}, place.field('input'));
    const custom = message.custom_match;
    const config = custom?.typed_config;
    if (config?.$type === IP && ADDRESSES.has(input?.kind)) {
      const { cidr_ranges: ranges, stat_prefix: prefix = '' } = config as IpMatcher;
      const at = place.field('custom_match').field('typed_config').field('cidr_ranges');
      this.ipStatPrefixes.add(prefix);
      return { kind: MatchPredicate_Kind.IP, input, ranges: compileCidrRanges(ranges, at) };
    }
    const special = config && input && this.#special(config, place.field('custom_match'));
    if (special) {
      const { metadata_namespace, path = [] } = input;
      const metadata = special.metadata && {
        ...special.metadata,
        metadata_namespace,
        metadata_path: path.join(PATH_SEPARATOR),
      };
      return { ...special, input, ...(metadata && { metadata }) };
    }
    if (custom) {
      const at = place.field('custom_match');
      const type = custom.typed_config?.$type ?? '';
      const why = type === CEL ? 'the Common Expression Language is not supported' : undefined;
      this.#refuse(
        at.field('typed_config'),
        why ??
          `'${custom.name ?? ''}' (${type}) is not supported yet as what a predicate compares by`,
        'value_match',
      );
    }
    const text = compileStringMatcher(
      withoutEmpty(message.value_match ?? {}),
      place.field('value_match'),
    );
    return { kind: MatchPredicate_Kind.TEXT, ...(input && { input }), ...(text && { text }) };
  }

  /** What only trees of requests have. */
  #special(config: Any, place: Place): MatchPredicate | undefined {
    const { runtime } = this.#tenant;
    if (!runtime) return undefined;
    const at = place.field('typed_config');
    switch (config.$type) {
      case METADATA: {
        const { value = {}, invert } = config as MetadataMatch;
        const metadata = compileValueMatcher(value, at.field('value'));
        return { kind: MatchPredicate_Kind.METADATA, metadata: { ...metadata, inverts: invert } };
      }
      case HASHING: {
        const { threshold, modulo, seed } = config as ConsistentHashing;
        return { kind: MatchPredicate_Kind.CONSISTENT_HASH, threshold, modulo, seed };
      }
      case FRACTION: {
        const { runtime_fraction: fraction = {}, seed } = config as RuntimeFraction;
        const { value, slot } = runtime.liveMillionths(
          fraction.runtime_key,
          fraction.default_value,
        );
        return {
          kind: MatchPredicate_Kind.RUNTIME_FRACTION,
          seed,
          modulo: DENOMINATORS[fraction.default_value?.denominator ?? 'HUNDRED'],
          share_millionths: value,
          share_slot: slot,
        };
      }
      default:
        return undefined;
    }
  }

  #byValue(message: TreeMessage, place: Place): MatchNode {
    const input = this.#input(message.input ?? {}, place.field('input'));
    const { exact_match_map: exact, prefix_match_map: prefix, custom_match: custom } = message;
    const map = exact ?? prefix;
    const common = input ? { input } : {};
    if (!map) return { ...common, ...this.#byCustom(custom ?? {}, place.field('custom_match')) };
    const at = place.field(exact ? 'exact_match_map' : 'prefix_match_map').field('map');
    const edges = Object.entries(map.map ?? {}).map(([text, outcome]) => ({
      text,
      outcome: this.#outcome(outcome, at.field(text)),
    }));
    return { ...common, kind: exact ? MatchNode_Kind.EXACT : MatchNode_Kind.PREFIX, edges };
  }

  #byCustom({ name = '', typed_config: config }: Named, place: Place): MatchNode {
    const at = place.field('typed_config');
    if (config?.$type === IP_TREE) {
      return { kind: MatchNode_Kind.IP, edges: this.#byRanges(config as IpTree, at) };
    }
    if (config?.$type === DOMAIN_TREE) {
      return { kind: MatchNode_Kind.DOMAIN, edges: this.#byDomains(config as DomainTree, at) };
    }
    this.#refuse(at, unregistered(name, config?.$type ?? ''), `${IP_TREE} or ${DOMAIN_TREE}`);
    return {};
  }

  #byRanges(message: IpTree, place: Place): MatchEdge[] {
    return (message.range_matchers ?? []).flatMap((matcher, index) => {
      const at = place.field('range_matchers').index(index);
      const outcome = this.#outcome(matcher.on_match ?? {}, at.field('on_match'));
      const ranges = (matcher.ranges ?? []).map((range: CidrRangeMessage, i) =>
        compileCidrRange(range, at.field('ranges').index(i)),
      );
      return ranges.flatMap((range) =>
        range ? [{ range, exclusive: matcher.exclusive, outcome }] : [],
      );
    });
  }

  #byDomains(message: DomainTree, place: Place): MatchEdge[] {
    const seen = new Set<string>();
    return (message.domain_matchers ?? []).flatMap((matcher, index) => {
      const at = place.field('domain_matchers').index(index);
      const outcome = this.#outcome(matcher.on_match ?? {}, at.field('on_match'));
      return (matcher.domains ?? []).map((domain, i) => {
        const domainPlace = at.field('domains').index(i);
        if (domain.includes('*') && domain !== '*' && !/^\*\.[^*]+$/.test(domain)) {
          const shape = "Only '*' and '*.domain' patterns are supported";
          this.#refuse(domainPlace, `Invalid wildcard domain format: ${domain}. ${shape}`);
        }
        if (seen.has(domain)) {
          this.#refuse(domainPlace, `Duplicate domain in ServerNameMatcher: ${domain}`);
        }
        seen.add(domain);
        return { text: domain, outcome };
      });
    });
  }

  #input({ name = '', typed_config: config }: Named, place: Place): MatchInput | undefined {
    const at = place.field('typed_config');
    const compile = this.#tenant.inputs.get(config?.$type ?? '');
    if (compile && config) return compile(config, at);
    const expected = `one of ${[...this.#tenant.inputs.keys()].join(', ')}`;
    this.#refuse(at, unregistered(name, config?.$type ?? ''), expected);
    return undefined;
  }

  #refuse(place: Place, what: string, expected?: string): void {
    place.error(this.#tenant.complaint + what, expected === undefined ? {} : { expected });
  }
}

/** Of xDS's own message what Envoy's has, too. */
function withoutEmpty({ safe_regex: regex, ...rest }: StringMatcherMessage): object {
  return { ...rest, ...(regex && { safe_regex: { regex: regex.regex } }) };
}

// Rules of access: policies of permissions and principals.
import type {
  envoy_config_core_v3_CidrRange as CidrRange,
  envoy_config_core_v3_TypedExtensionConfig as TypedExtension,
  envoy_config_rbac_v3_Action as RbacActionMessage,
  envoy_config_rbac_v3_Permission as Permission,
  envoy_config_rbac_v3_Policy as Policy,
  envoy_config_rbac_v3_Principal as Principal,
  envoy_config_rbac_v3_RBAC as RulesMessage,
  envoy_config_rbac_v3_SourcedMetadata as SourcedMetadata,
  envoy_extensions_path_match_uri_template_v3_UriTemplateMatchConfig as Template,
  envoy_type_matcher_v3_FilterStateMatcher as FilterStateMatcher,
  envoy_type_matcher_v3_StringMatcher as StringMatcher,
  xds_type_matcher_v3_Matcher as MatcherMessage,
} from '../../../build/messages.gen.js';
import { compileCidrRange } from '../address/address.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  RbacCondition_Kind as Kind,
  RbacRules_Action,
  RbacTreeAction_Action,
  type Rbac,
  type RbacCondition,
  type RbacPolicy,
  type RbacRules,
  type RbacTree,
  type RbacTreeAction,
} from '../plan.gen.js';
import { unregistered } from '../known-extensions.js';
import type { RuntimeReads } from '../runtime/runtime-reads.js';
import { compileUriTemplate, URI_TEMPLATE } from './uri-template.js';
import { compileHttpTree } from './http-tree.js';
import type { MatchTenant } from './match-tree.js';
import { compileHeaderMatcher, compileStringMatcher } from './matchers.js';
import { compileMetadataMatcher } from './metadata.js';
import { nameOr } from '../message/open-enum.js';

const PACKAGE = 'envoy.config.rbac.v3';
const RULES = supportedFields<RulesMessage>(`${PACKAGE}.RBAC`, ['action', 'policies'], {
  audit_logging_options: {},
});
const POLICY = supportedFields<Policy>(`${PACKAGE}.Policy`, ['permissions', 'principals'], {
  cel_config: {},
});
const PERMISSION = supportedFields<Permission>(`${PACKAGE}.Permission`, [
  'and_rules',
  'or_rules',
  'any',
  'header',
  'destination_ip',
  'destination_port',
  'destination_port_range',
  'metadata',
  'not_rule',
  'requested_server_name',
  'url_path',
  'uri_template',
  'sourced_metadata',
]);
const PRINCIPAL = supportedFields<Principal>(`${PACKAGE}.Principal`, [
  'and_ids',
  'or_ids',
  'any',
  'authenticated',
  'source_ip',
  'direct_remote_ip',
  'remote_ip',
  'header',
  'metadata',
  'not_id',
  'url_path',
  'filter_state',
  'sourced_metadata',
]);
const FILTER_STATE = supportedFields<FilterStateMatcher>(
  'envoy.type.matcher.v3.FilterStateMatcher',
  ['key', 'string_match', 'address_match'],
);
const SOURCED_METADATA = supportedFields<SourcedMetadata>(`${PACKAGE}.SourcedMetadata`, [
  'metadata_matcher',
  'metadata_source',
]);

const END_OF_PORTS = 65_536;
/** Where a part was wrong, which has been said: nothing is made of the plan. */
const NONE: RbacCondition = { kind: Kind.OR };

function compileRbacRules(message: RulesMessage, place: Place): RbacRules {
  refuseOtherFields(place, message, RULES);
  const names = Object.keys(message.policies ?? {}).sort((a, b) => (a < b ? -1 : 1));
  return {
    action: RbacRules_Action[message.action ?? 'ALLOW'],
    policies: names.map((name) =>
      compilePolicy(name, message.policies?.[name] ?? {}, place.field(`policies["${name}"]`)),
    ),
  };
}

interface RbacMessages {
  readonly rules?: RulesMessage | undefined;
  readonly matcher?: MatcherMessage | undefined;
  readonly shadow_rules?: RulesMessage | undefined;
  readonly shadow_matcher?: MatcherMessage | undefined;
}

/** As the real server: where there is a tree rules do not count. `inputs`: absent: those of requests. */
export function compileRbac(
  config: RbacMessages,
  place: Place,
  runtime: RuntimeReads,
  inputs?: MatchTenant['inputs'],
): Pick<Rbac, 'rules' | 'tree' | 'shadow' | 'shadow_tree'> {
  const tree = (field: 'matcher' | 'shadow_matcher'): RbacTree | undefined => {
    const message = config[field];
    return message && compileRbacTree(message, place.field(field), runtime, inputs);
  };
  const rules = (
    field: 'rules' | 'shadow_rules',
    instead: MatcherMessage | undefined,
  ): RbacRules | undefined => {
    const message = config[field];
    if (!message || !instead) return message && compileRbacRules(message, place.field(field));
    place.field(field).warn('RBAC rules are ignored when matcher is configured');
    return undefined;
  };
  return {
    rules: rules('rules', config.matcher),
    tree: tree('matcher'),
    shadow: rules('shadow_rules', config.shadow_matcher),
    shadow_tree: tree('shadow_matcher'),
  };
}

const ACTION = 'envoy.config.rbac.v3.Action';

/** The same by a tree, whose actions say what becomes of a request. */
function compileRbacTree(
  message: MatcherMessage,
  place: Place,
  runtime: RuntimeReads,
  inputs?: MatchTenant['inputs'],
): RbacTree {
  const actions: RbacTreeAction[] = [];
  const act: MatchTenant['action'] = (config, name, at) => {
    if (config.$type !== ACTION) {
      at.error(unregistered(name, config.$type), { expected: ACTION });
      return undefined;
    }
    const { name: policy, action } = config as RbacActionMessage;
    return (
      actions.push({
        name: policy,
        action: RbacTreeAction_Action[nameOr(action ?? 'ALLOW', 'DENY')],
      }) - 1
    );
  };
  const tree = compileHttpTree(message, place, runtime, act, inputs);
  return { tree, actions };
}

function compilePolicy(name: string, message: Policy, place: Place): RbacPolicy {
  refuseOtherFields(place, message, POLICY);
  const permissions = place.field('permissions');
  const principals = place.field('principals');
  return {
    name,
    permission: anyOf(
      (message.permissions ?? []).map((one, i) => compilePermission(one, permissions.index(i))),
    ),
    principal: anyOf(
      (message.principals ?? []).map((one, i) => compilePrincipal(one, principals.index(i))),
    ),
  };
}

const anyOf = (parts: readonly RbacCondition[]): RbacCondition => {
  const [only] = parts;
  return only && parts.length === 1 ? only : { kind: Kind.OR, parts };
};

function compilePermission(one: Permission, place: Place): RbacCondition {
  refuseOtherFields(place, one, PERMISSION);
  const set = (rules: readonly Permission[] | undefined, at: Place): RbacCondition[] =>
    (rules ?? []).map((rule, i) => compilePermission(rule, at.field('rules').index(i)));
  if (one.and_rules) {
    return { kind: Kind.AND, parts: set(one.and_rules.rules, place.field('and_rules')) };
  }
  if (one.or_rules) {
    return { kind: Kind.OR, parts: set(one.or_rules.rules, place.field('or_rules')) };
  }
  if (one.not_rule) {
    return { kind: Kind.NOT, parts: [compilePermission(one.not_rule, place.field('not_rule'))] };
  }
  if (one.destination_ip) {
    return inRange(Kind.DESTINATION_IP, one.destination_ip, place.field('destination_ip'));
  }
  if (one.destination_port !== undefined) {
    const port = one.destination_port;
    return { kind: Kind.DESTINATION_PORT, first_port: port, end_port: port + 1 };
  }
  if (one.destination_port_range) {
    return portRange(one.destination_port_range, place.field('destination_port_range'));
  }
  if (one.requested_server_name) {
    const at = place.field('requested_server_name');
    return withText(Kind.SERVER_NAME, one.requested_server_name, at);
  }
  if (one.uri_template) return templated(one.uri_template, place.field('uri_template'));
  return compileShared(one, place);
}

function compilePrincipal(one: Principal, place: Place): RbacCondition {
  refuseOtherFields(place, one, PRINCIPAL);
  const set = (ids: readonly Principal[] | undefined, at: Place): RbacCondition[] =>
    (ids ?? []).map((id, i) => compilePrincipal(id, at.field('ids').index(i)));
  if (one.and_ids) {
    return { kind: Kind.AND, parts: set(one.and_ids.ids, place.field('and_ids')) };
  }
  if (one.or_ids) return { kind: Kind.OR, parts: set(one.or_ids.ids, place.field('or_ids')) };
  if (one.not_id) {
    return { kind: Kind.NOT, parts: [compilePrincipal(one.not_id, place.field('not_id'))] };
  }
  if (one.authenticated) {
    const name = one.authenticated.principal_name;
    const at = place.field('authenticated').field('principal_name');
    return name ? withText(Kind.AUTHENTICATED, name, at) : { kind: Kind.AUTHENTICATED };
  }
  if (one.source_ip) return inRange(Kind.SOURCE_IP, one.source_ip, place.field('source_ip'));
  if (one.direct_remote_ip) {
    return inRange(Kind.DIRECT_REMOTE_IP, one.direct_remote_ip, place.field('direct_remote_ip'));
  }
  if (one.remote_ip) return inRange(Kind.REMOTE_IP, one.remote_ip, place.field('remote_ip'));
  if (one.filter_state) return kept(one.filter_state, place.field('filter_state'));
  return compileShared(one, place);
}

/** What both may ask. */
function compileShared(
  one: Pick<
    Permission & Principal,
    'any' | 'header' | 'metadata' | 'url_path' | 'sourced_metadata'
  >,
  place: Place,
): RbacCondition {
  if (one.header) {
    return { kind: Kind.HEADER, header: compileHeaderMatcher(one.header, place.field('header')) };
  }
  if (one.url_path) {
    return withText(Kind.PATH, one.url_path.path ?? {}, place.field('url_path').field('path'));
  }
  if (one.metadata) {
    const metadata = compileMetadataMatcher(one.metadata, place.field('metadata'));
    return { kind: Kind.METADATA, metadata };
  }
  if (one.sourced_metadata) return sourced(one.sourced_metadata, place.field('sourced_metadata'));
  return { kind: Kind.ANY };
}

function sourced(message: SourcedMetadata, place: Place): RbacCondition {
  refuseOtherFields(place, message, SOURCED_METADATA);
  const at = place.field('metadata_matcher');
  const metadata = compileMetadataMatcher(message.metadata_matcher ?? {}, at);
  const kind = message.metadata_source === 'ROUTE' ? Kind.ROUTE_METADATA : Kind.METADATA;
  return { kind, metadata };
}

function kept(message: FilterStateMatcher, place: Place): RbacCondition {
  refuseOtherFields(place, message, FILTER_STATE);
  const { key, string_match: text, address_match: addresses } = message;
  if (text) {
    const compiled = compileStringMatcher(text, place.field('string_match'));
    return { kind: Kind.FILTER_STATE, key, text: compiled };
  }
  const at = place.field('address_match').field('ranges');
  return {
    kind: Kind.FILTER_STATE,
    key,
    ranges: (addresses?.ranges ?? []).flatMap(
      (range, i) => compileCidrRange(range, at.index(i)) ?? [],
    ),
    inverts: addresses?.invert_match,
  };
}

const withText = (kind: Kind, text: StringMatcher, place: Place): RbacCondition => ({
  kind,
  text: compileStringMatcher(text, place),
});

const inRange = (kind: Kind, range: CidrRange, place: Place): RbacCondition => ({
  kind,
  range: compileCidrRange(range, place),
});

function portRange(
  { start = 0, end = 0 }: { readonly start?: number; readonly end?: number },
  place: Place,
): RbacCondition {
  const isOut = (port: number): boolean => port < 0 || port > END_OF_PORTS;
  if (isOut(start)) place.field('start').error(`range start ${start} is out of bounds`);
  else if (isOut(end)) place.field('end').error(`range end ${end} is out of bounds`);
  else if (start >= end) {
    place.error(`range start ${start} cannot be greater or equal than range end ${end}`, {
      expected: 'the first port, and the one behind the last',
    });
  }
  return { kind: Kind.DESTINATION_PORT, first_port: start, end_port: end };
}

function templated(
  { name = '', typed_config: config }: TypedExtension,
  place: Place,
): RbacCondition {
  if (config?.$type !== URI_TEMPLATE) {
    place
      .field('typed_config')
      .error(
        `Didn't find a registered implementation for '${name}' with type URL: '${config?.$type ?? ''}'`,
        {
          expected: URI_TEMPLATE,
        },
      );
    return NONE;
  }
  const text = compileUriTemplate(
    config as Template,
    place.field('typed_config').within(URI_TEMPLATE),
  );
  return { kind: Kind.PATH, text };
}

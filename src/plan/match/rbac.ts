// Rules of access: policies of permissions and principals.
import type {
  envoy_config_core_v3_CidrRange as CidrRange,
  envoy_config_core_v3_TypedExtensionConfig as TypedExtension,
  envoy_config_rbac_v3_Permission as Permission,
  envoy_config_rbac_v3_Policy as Policy,
  envoy_config_rbac_v3_Principal as Principal,
  envoy_config_rbac_v3_RBAC as RulesMessage,
  envoy_extensions_path_match_uri_template_v3_UriTemplateMatchConfig as Template,
  envoy_type_matcher_v3_MetadataMatcher as MetadataMatcher,
  envoy_type_matcher_v3_StringMatcher as StringMatcher,
  envoy_type_matcher_v3_ValueMatcher as ValueMatcher,
} from '../../../build/messages.gen.js';
import { compileCidrRange } from '../address/address.js';
import { PATH_SEPARATOR } from '../format/metadata-values.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  RbacCondition_Kind as Kind,
  RbacCondition_Value as Value,
  RbacRules_Action,
  type RbacCondition,
  type RbacPolicy,
  type RbacRules,
} from '../plan.gen.js';
import { compileUriTemplate, URI_TEMPLATE } from './uri-template.js';
import { compileHeaderMatcher, compileStringMatcher } from './matchers.js';

const PACKAGE = 'envoy.config.rbac.v3';
const RULES = supportedFields<RulesMessage>(`${PACKAGE}.RBAC`, ['action', 'policies']);
const POLICY = supportedFields<Policy>(`${PACKAGE}.Policy`, ['permissions', 'principals']);
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
]);
const METADATA = supportedFields<MetadataMatcher>('envoy.type.matcher.v3.MetadataMatcher', [
  'filter',
  'path',
  'value',
  'invert',
]);
const VALUE = supportedFields<ValueMatcher>('envoy.type.matcher.v3.ValueMatcher', [
  'null_match',
  'double_match',
  'string_match',
  'bool_match',
  'present_match',
]);

const MILLION = 1_000_000;
const END_OF_PORTS = 65_536;
/** Where a part was wrong, which has been said: nothing is made of the plan. */
const NONE: RbacCondition = { kind: Kind.OR };

export function compileRbacRules(message: RulesMessage, place: Place): RbacRules {
  refuseOtherFields(place, message, RULES);
  const names = Object.keys(message.policies ?? {}).sort((a, b) => (a < b ? -1 : 1));
  return {
    action: RbacRules_Action[message.action ?? 'ALLOW'],
    policies: names.map((name) =>
      compilePolicy(name, message.policies?.[name] ?? {}, place.field(`policies["${name}"]`)),
    ),
  };
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
  return compileShared(one, place);
}

/** What both may ask. */
function compileShared(
  one: Pick<Permission & Principal, 'any' | 'header' | 'metadata' | 'url_path'>,
  place: Place,
): RbacCondition {
  if (one.header) {
    return { kind: Kind.HEADER, header: compileHeaderMatcher(one.header, place.field('header')) };
  }
  if (one.url_path) {
    return withText(Kind.PATH, one.url_path.path ?? {}, place.field('url_path').field('path'));
  }
  if (one.metadata) return compileMetadata(one.metadata, place.field('metadata'));
  return { kind: Kind.ANY };
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

function compileMetadata(message: MetadataMatcher, place: Place): RbacCondition {
  refuseOtherFields(place, message, METADATA);
  return {
    kind: Kind.METADATA,
    metadata_namespace: message.filter,
    metadata_path: (message.path ?? []).map(({ key = '' }) => key).join(PATH_SEPARATOR),
    inverts: message.invert,
    ...compileValue(message.value ?? {}, place.field('value')),
  };
}

function compileValue(value: ValueMatcher, place: Place): RbacCondition {
  refuseOtherFields(place, value, VALUE);
  if (value.string_match) {
    const text = compileStringMatcher(value.string_match, place.field('string_match'));
    return { value: Value.TEXT, text };
  }
  if (value.null_match) return { value: Value.LITERAL, literal: 'null' };
  if (value.bool_match !== undefined) {
    return { value: Value.LITERAL, literal: String(value.bool_match) };
  }
  if (value.double_match) {
    const { exact, range } = value.double_match;
    if (exact !== undefined) return { value: Value.LITERAL, literal: JSON.stringify(exact) };
    const millionths = (number = 0): number => Math.round(number * MILLION);
    return {
      value: Value.NUMBER,
      first_number: millionths(range?.start),
      end_number: millionths(range?.end),
    };
  }
  // Of what is to be absent there is nothing that fits.
  if (value.present_match === false) return { value: Value.TEXT };
  return { value: Value.PRESENT };
}

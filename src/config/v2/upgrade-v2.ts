// A bootstrap of the v2 API, or one that still has words of it, as v3. It works on the plain value,
// before it is decoded, and follows v3's types: nearly all messages only changed their names.
import { formatPath, type FieldPath } from '../issues/field-path.js';
import { isObject, type PlainObject } from '../values/objects.js';
import type { MessageType, Schema, ValueType } from '../schema/schema.js';
import { findExtension, TLS_CONTEXTS } from './v2-extensions.js';
import { REWRITERS } from './v2-rewrites.js';
import { Site, stringOf, UpgradeLog } from './v2-site.js';

export type { Rewrite } from './v2-site.js';

// Words that v3 lacks, or has elsewhere: without any of them nothing is v2.
const WORDS = new RegExp(
  [
    String.raw`envoy\.[\w.]*\bv\d?\d?alpha\d?\.|envoy\.[\w.]*\bv2\b`,
    String.raw`\b(?:hosts|tls_?[cC]ontext|config|runtime|regex|regex_?[mM]atch|allow_?[oO]rigin|host_?[rR]ewrite)["']?\s*[:{]`,
    String.raw`\b(?:per_?[fF]ilter_?[cC]onfig|extension_?[pP]rotocol_?[oO]ptions|request_?[mM]irror_?[pP]olicy)\b`,
    String.raw`\b(?:verify_?[sS]ubject_?[aA]lt_?[nN]ame|deprecated_?[vV]1|sni_?[dD]omains|operation_?[nN]ame)\b`,
    String.raw`\bORIGINAL_DST_LB\b|\bHTTP_JSON_V1\b|\bbuild_?[vV]ersion\b|\bservice_?[nN]ame\b|\buse_?[hH]ttp2\b`,
  ].join('|'),
);

/** Whether a text may hold words of v2; most hold none, and need no upgrade. */
export const mayBeV2 = (text: string): boolean => WORDS.test(text);

/** Rewrites `value`, which changes. Never throws. */
export function upgradeToV3(schema: Schema, type: MessageType, value: PlainObject): UpgradeLog {
  const log = new UpgradeLog();
  const upgrade = new Upgrade(schema, log);
  upgrade.message(type, value, []);
  upgrade.finish();
  return log;
}

const TYPE_URL = 'type.googleapis.com/';
const DEEPEST = 100;

class Upgrade {
  readonly #schema: Schema;
  readonly #log: UpgradeLog;
  /** What is only to be done where something else is v2. */
  readonly #later: (() => void)[] = [];
  /** Shared values of a YAML anchor are rewritten once. */
  readonly #seen = new WeakSet<object>();
  #side: keyof typeof TLS_CONTEXTS = 'downstream';
  #depth = 0;

  constructor(schema: Schema, log: UpgradeLog) {
    this.#schema = schema;
    this.#log = log;
  }

  finish(): void {
    if (this.#log.rewrites.length > 0) for (const act of this.#later) act();
  }

  message(type: MessageType, object: PlainObject, path: FieldPath): void {
    if (this.#seen.has(object) || this.#depth > DEEPEST) return;
    this.#seen.add(object);
    this.#depth++;
    const side = this.#side;
    if (type.name === 'envoy.config.cluster.v3.Cluster') this.#side = 'upstream';
    const site = new Site(object, path, this.#log);
    this.#extension(type, site);
    REWRITERS.get(type.name)?.(site);
    if (type.name === 'envoy.config.route.v3.RouteAction') {
      // v3 has a field of this name, too, which is a format.
      this.#later.push(() => {
        site.move('host_rewrite', ['host_rewrite_literal']);
      });
    }
    if (type.name.endsWith('ConfigSource')) this.#later.push(() => useV3(type, site));
    for (const key of Object.keys(object)) {
      const field = type.field(key);
      if (!field) continue;
      const at = [...path, field.name];
      const inner = object[key];
      if (field.label === 'map' && isObject(inner)) {
        for (const name of Object.keys(inner)) this.#value(field.value, inner[name], [...at, name]);
      } else if (field.label === 'many' && Array.isArray(inner)) {
        inner.forEach((item, index) => this.#value(field.value, item, [...at, index]));
      } else {
        // A single value may stand for a list of one.
        this.#value(field.value, inner, field.label === 'many' ? [...at, 0] : at);
      }
    }
    this.#side = side;
    this.#depth--;
  }

  #value(type: ValueType, value: unknown, path: FieldPath): void {
    if (!isObject(value)) return;
    if (type.kind === 'message') this.message(type.type, value, path);
    else if (type.kind === 'any') this.#any(value, path);
  }

  #any(any: PlainObject, path: FieldPath): void {
    const url = stringOf(any['@type']);
    const name = this.#v3Name(url);
    if (name !== undefined) {
      any['@type'] = TYPE_URL + name;
      new Site(any, path, this.#log).note(url, TYPE_URL + name);
    }
    const type = this.#schema.findMessage(stringOf(any['@type']).replace(/^.*\//, ''));
    if (!type) return;
    if (!type.name.endsWith('.TypedStruct')) return this.message(type, any, path);
    const key = 'typeUrl' in any ? 'typeUrl' : 'type_url';
    const inner = this.#v3Name(stringOf(any[key]));
    if (inner !== undefined) {
      new Site(any, path, this.#log).note(stringOf(any[key]), TYPE_URL + inner);
      any[key] = TYPE_URL + inner;
    }
    const held = this.#schema.findMessage(stringOf(any[key]).replace(/^.*\//, ''));
    // What a TypedStruct holds is decoded in its place: `value` is no part of a path.
    if (held && isObject(any['value'])) this.message(held, any['value'], path);
  }

  /** The v3 name of a v2 type, or undefined. */
  #v3Name(url: string): string | undefined {
    const name = url.slice(url.lastIndexOf('/') + 1);
    if (name === '' || this.#schema.findMessage(name)) return undefined;
    const gone = BY_HAND[name] ?? this.#schema.successorOf(name);
    return gone !== undefined && this.#schema.findMessage(gone) ? gone : undefined;
  }

  /** A message that names an extension and has its configuration beside the name. */
  #extension(type: MessageType, site: Site): void {
    if (!type.field('typed_config') || !type.field('name')) return;
    const hasStruct = site.has('config') && !type.field('config');
    const name = stringOf(site.get('name'));
    const extension = findExtension(type.name, name, this.#side);
    if (hasStruct) {
      this.#struct(type, site, name, extension);
    } else if (extension && isBare(site)) {
      this.#later.push(() => {
        site.object['typed_config'] = { '@type': TYPE_URL + extension.type };
        site.note(`${name} without a type`, extension.type);
      });
    }
    if (extension && extension.name !== name) this.#rename(site, name, extension.name);
  }

  #struct(
    type: MessageType,
    site: Site,
    name: string,
    extension: { readonly type: string } | undefined,
  ): void {
    if (!extension) {
      const what = `"${name}" is not supported, or needs a typed_config`;
      return site.refuse('config', `cannot be upgraded: ${what}`);
    }
    const config = site.take('config');
    const fields = isObject(config) ? config : {};
    if (isFirstForm(fields)) {
      if (isObject(fields['value']) && Object.keys(fields['value']).length > 0)
        return site.refuse('config', 'cannot be upgraded: deprecated_v1 holds the form of v1');
      delete fields['deprecated_v1'];
      delete fields['value'];
    }
    if (site.has('typed_config'))
      return site.refuse('config', 'cannot be upgraded beside typed_config');
    site.put(['typed_config'], { '@type': TYPE_URL + extension.type, ...fields }, ['config']);
    site.note('config', `typed_config of ${extension.type} (${type.name})`);
  }

  /** The name has no effect beside a type; it is upgraded for what prints it, once it is v2. */
  #rename(site: Site, from: string, to: string): void {
    this.#later.push(() => {
      site.object['name'] = to;
      site.note(from, to);
    });
  }
}

/** Types that have no annotation to find them by. */
const BY_HAND: Readonly<Record<string, string>> = {
  'envoy.config.filter.http.ext_authz.v2alpha.ExtAuthz':
    'envoy.extensions.filters.http.ext_authz.v3.ExtAuthz',
  'envoy.config.filter.http.jwt_authn.v2alpha.JwtProvider':
    'envoy.extensions.filters.http.jwt_authn.v3.JwtProvider',
};

const isFirstForm = (config: PlainObject): boolean =>
  config['deprecated_v1'] === true || config['deprecated_v1'] === 'true';

/** Whether an extension is only named: v2 took its configuration to be empty. */
function isBare(site: Site): boolean {
  const config = site.get('typed_config') ?? {};
  return isObject(config) && Object.keys(config).length === 0 && !site.has('config_discovery');
}

/** v2 resources are no longer served: what asked for them asks for v3's. */
function useV3(type: MessageType, site: Site): void {
  const name = type.field('resource_api_version')
    ? 'resource_api_version'
    : 'transport_api_version';
  if (!type.field(name)) return;
  const version = site.get(name);
  if (version === 'V3' || version === 2) return;
  site.take(name);
  site.object[name] = 'V3';
  site.note(`${name} ${version === undefined ? 'unset' : formatPath([stringOf(version)])}`, 'V3');
}

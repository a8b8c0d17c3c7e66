// Reads .proto files into plain messages and enums with every type name resolved.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { rulesOf } from './rules.mjs';

/**
 * @typedef {{name: string, number: number, type: string, repeated: boolean, key?: string, oneof?: string,
 *   presence: boolean, rules?: object, sensitive: boolean, deprecated?: string, disallowed:
 * boolean,   hidden: boolean, jsonName?: string}} Field  type is a scalar's name or a full name;
 * key makes it a map
 * @typedef {{name: string, required: boolean}} Oneof
 * @typedef {{name: string, file: string, fields: Field[], oneofs: Oneof[], previous?: string,
 *   unvalidated: boolean}} Message
 * @typedef {{name: string, values: {name: string, number: number, deprecated?: string,
 *   disallowed: boolean}[]}} Enum
 * @typedef {{messages: Map<string, Message>, enums: Map<string, Enum>}} Model  in the order of names
 */

// Folders of the package's deps/ with anything that configuration can reach.
const FOLDERS = [
  'envoy-api/envoy',
  'xds',
  'googleapis/google/rpc',
  'googleapis/google/api/expr/v1alpha1',
];

const PARSING = { keepCase: true, alternateCommentMode: true };

// Messages outside these packages are kept only where one inside refers to them.
const KEPT =
  /^(envoy\..*\.v3(alpha)?|xds\.(core|type)(\..*)?|udpa\.type\.v1|google\.(rpc|protobuf))\./;

// What the walker knows by itself; the files are not needed.
const WELL_KNOWN = `syntax = "proto3"; package google.protobuf;
  message Any {} message Duration {} message Timestamp {} message Empty {} message FieldMask {}
  message Struct {} message Value {} message ListValue {} message DoubleValue {} message FloatValue {}
  message Int64Value {} message UInt64Value {} message Int32Value {} message UInt32Value {}
  message BoolValue {} message StringValue {} message BytesValue {}
  enum NullValue { NULL_VALUE = 0; }`;

/** @returns {Model} */
export function readModel(deps, overlayFile) {
  const root = new protobuf.Root();
  const parse = (text, file) => {
    protobuf.parse.filename = file;
    protobuf.parse(text, root, PARSING);
  };
  parse(WELL_KNOWN, 'google/protobuf');
  for (const folder of FOLDERS) {
    const base = folder.startsWith('googleapis')
      ? join(deps, 'googleapis')
      : join(deps, folder.split('/')[0]);
    for (const path of protoFiles(join(deps, folder))) {
      parse(readFileSync(path, 'utf8'), path.slice(base.length + 1));
    }
  }
  addOverlay(root, readFileSync(overlayFile, 'utf8'));
  return closure(root);
}

function protoFiles(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      // v2 files are judged through the v3 types that replaced them, and cannot all be resolved.
      if (entry.isDirectory()) return /^v2(alpha)?\d*$/.test(entry.name) ? [] : protoFiles(path);
      return entry.name.endsWith('.proto') ? [path] : [];
    });
}

function* typesOf(namespace) {
  for (const item of namespace.nestedArray ?? []) {
    if (item instanceof protobuf.Type || item instanceof protobuf.Enum) yield item;
    yield* typesOf(item);
  }
}

/** The overlay holds one file per `package` line; its messages add fields to those that exist. */
function addOverlay(root, text) {
  for (const section of text.split(/^(?=package )/m).slice(1)) {
    protobuf.parse.filename = `${/^package ([\w.]+)/.exec(section)[1].replaceAll('.', '/')}/overlay`;
    const parsed = protobuf.parse(`syntax = "proto3";\n${section}`, new protobuf.Root(), PARSING);
    mergeNamespace(parsed.root, root);
  }
}

function mergeNamespace(from, into) {
  for (const item of from.nestedArray) {
    const present = into.get(item.name);
    if (!present) {
      from.remove(item);
      into.add(item);
    } else if (item instanceof protobuf.Enum) {
      for (const [name, id] of Object.entries(item.values)) {
        if (present.values[name] === undefined) present.add(name, id);
      }
    } else {
      if (item instanceof protobuf.Type) mergeFields(item, present);
      mergeNamespace(item, present);
    }
  }
}

function mergeFields(from, into) {
  for (const oneof of from.oneofsArray) {
    if (isSynthetic(oneof)) continue;
    if (!into.oneofs?.[oneof.name]) into.add(new protobuf.OneOf(oneof.name, []));
    if (oneof.parsedOptions) into.oneofs[oneof.name].parsedOptions = oneof.parsedOptions;
  }
  for (const field of from.fieldsArray) {
    const oneof = field.partOf && !isSynthetic(field.partOf) ? field.partOf.name : undefined;
    for (const replaced of [into.fieldsById[field.id], into.fields[field.name]]) {
      if (replaced?.parent) detach(replaced);
    }
    detach(field);
    if (oneof === undefined) into.add(field);
    else into.oneofs[oneof].add(field);
  }
}

function detach(field) {
  const type = field.parent;
  field.partOf?.remove(field);
  type.remove(field);
}

/** @returns {Model} */
function closure(root) {
  const messages = new Map();
  const enums = new Map();
  const pending = [...typesOf(root)].filter((type) => KEPT.test(type.fullName.slice(1)));
  for (let type = pending.pop(); type; type = pending.pop()) {
    const name = type.fullName.slice(1);
    if (messages.has(name) || enums.has(name)) continue;
    if (type instanceof protobuf.Enum) {
      enums.set(name, enumOf(type));
      continue;
    }
    messages.set(
      name,
      messageOf(type, (target) => pending.push(target)),
    );
  }
  return { messages: sorted(messages), enums: sorted(enums) };
}

const sorted = (map) => new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));

/** Options of a field or message, several of one name merged. */
function optionsOf(item) {
  const merged = {};
  for (const option of item.parsedOptions ?? []) mergeInto(merged, option);
  // protobufjs keeps what was given in brackets on one line only here.
  for (const [name, value] of Object.entries(item.options ?? {})) {
    if (!/\)\./.test(name) && merged[name] === undefined) merged[name] = value;
  }
  return merged;
}

function mergeInto(target, source) {
  for (const [key, value] of Object.entries(source)) {
    const present = target[key];
    if (
      present &&
      typeof present === 'object' &&
      typeof value === 'object' &&
      !Array.isArray(value)
    ) {
      mergeInto(present, value);
    } else {
      target[key] = value;
    }
  }
}

/** @returns {Message} */
function messageOf(type, reach) {
  const options = optionsOf(type);
  const fields = type.fieldsArray.map((field) => fieldOf(field, reach)).filter(Boolean);
  const oneofs = type.oneofsArray
    .filter((oneof) => !isSynthetic(oneof))
    .map((oneof) => ({
      name: oneof.name,
      required: optionsOf(oneof)['(validate.required)'] === true,
    }));
  return {
    name: type.fullName.slice(1),
    file: type.filename ?? '',
    fields: fields.sort((a, b) => a.number - b.number),
    oneofs,
    previous: options['(udpa.annotations.versioning)']?.previous_message_type,
    unvalidated: options['(validate.disabled)'] === true || options['(validate.ignored)'] === true,
  };
}

/** Whether a oneof only stands for the presence of an `optional` scalar. */
const isSynthetic = (oneof) => oneof.oneof.length === 1 && oneof.name === `_${oneof.oneof[0]}`;

/** @returns {Field | undefined} undefined where the type is of a package that is not shipped */
function fieldOf(field, reach) {
  let type = field.type;
  let message = false;
  if (protobuf.types.basic[type] === undefined) {
    const target = field.parent.lookup(type, [protobuf.Type, protobuf.Enum]);
    if (!target) return undefined;
    reach(target);
    type = target.fullName.slice(1);
    message = target instanceof protobuf.Type;
  }
  const options = optionsOf(field);
  const oneof = field.partOf && !isSynthetic(field.partOf) ? field.partOf.name : undefined;
  const number = field.id;
  const jsonName = options.json_name;
  const deprecated = options.deprecated === true;
  return {
    name: field.name,
    number,
    type,
    repeated: field.repeated,
    key: field.map ? field.keyType : undefined,
    oneof,
    presence: message || oneof !== undefined || field.options?.proto3_optional === true,
    rules: rulesOf(options['(validate.rules)']),
    sensitive: options['(udpa.annotations.sensitive)'] === true,
    deprecated: deprecated
      ? (options['(envoy.annotations.deprecated_at_minor_version)'] ?? '')
      : undefined,
    disallowed: options['(envoy.annotations.disallowed_by_default)'] === true,
    hidden: /\[#not-implemented-hide:/.test(field.comment ?? ''),
    jsonName,
  };
}

/** @returns {Enum} */
function enumOf(type) {
  return {
    name: type.fullName.slice(1),
    values: Object.entries(type.values).map(([name, number]) => {
      const options = type.valuesOptions?.[name] ?? {};
      return {
        name,
        number,
        deprecated: options.deprecated
          ? (options['(envoy.annotations.deprecated_at_minor_version_enum)'] ?? '')
          : undefined,
        disallowed: options['(envoy.annotations.disallowed_by_default_enum)'] === true,
      };
    }),
  };
}

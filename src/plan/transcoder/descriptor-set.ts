// A FileDescriptorSet, as protoc writes it, read by protobufjs: as much of it as transcoding asks for.
// Rules of google.api.http are options of methods.
import type * as Protobuf from 'protobufjs/light.js';
import { protobufjs } from '../../base/late-modules.js';

export interface FieldDescriptor {
  readonly name: string;
  readonly number: number;
  /** FieldDescriptorProto.Label: 1 optional, 2 required, 3 repeated. */
  readonly label: number;
  /** FieldDescriptorProto.Type. */
  readonly type: number;
  readonly type_name: string;
  readonly json_name?: string;
  /** Absent: it is in none. */
  readonly oneof_index?: number;
  readonly options?: { readonly features?: Features };
}
export interface Features {
  /** 2: implicit. */
  readonly field_presence?: number;
}
export interface MessageDescriptor {
  readonly name: string;
  readonly field: readonly FieldDescriptor[];
  readonly nested_type: readonly MessageDescriptor[];
  readonly enum_type: readonly EnumDescriptor[];
  readonly oneof_decl: readonly { readonly name: string }[];
  readonly options?: { readonly map_entry?: boolean };
}
export interface EnumDescriptor {
  readonly name: string;
  readonly value: readonly { readonly name: string; readonly number: number }[];
}
export interface HttpRule {
  readonly get?: string;
  readonly put?: string;
  readonly post?: string;
  readonly delete?: string;
  readonly patch?: string;
  readonly custom?: { readonly kind?: string; readonly path?: string };
  readonly body?: string;
  readonly response_body?: string;
  readonly additional_bindings?: readonly HttpRule[];
}
export interface MethodDescriptor {
  readonly name: string;
  readonly input_type: string;
  readonly output_type: string;
  readonly client_streaming?: boolean;
  readonly server_streaming?: boolean;
  readonly options?: { readonly http?: HttpRule };
}
export interface ServiceDescriptor {
  readonly name: string;
  readonly method: readonly MethodDescriptor[];
}
export interface FileDescriptor {
  readonly name: string;
  readonly package: string;
  readonly dependency: readonly string[];
  readonly message_type: readonly MessageDescriptor[];
  readonly enum_type: readonly EnumDescriptor[];
  readonly service: readonly ServiceDescriptor[];
  readonly options?: { readonly features?: Features };
  /** Empty: "proto2". */
  readonly syntax: string;
}

/** Messages by name: their fields as "name type number", "[]" of what is repeated. */
const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  FileDescriptorSet: ['file[] FileDescriptorProto 1'],
  FileDescriptorProto: [
    'name string 1',
    'package string 2',
    'dependency[] string 3',
    'message_type[] DescriptorProto 4',
    'enum_type[] EnumDescriptorProto 5',
    'service[] ServiceDescriptorProto 6',
    'options FileOptions 8',
    'syntax string 12',
  ],
  FileOptions: ['features FeatureSet 50'],
  FeatureSet: ['field_presence int32 1'],
  DescriptorProto: [
    'name string 1',
    'field[] FieldDescriptorProto 2',
    'nested_type[] DescriptorProto 3',
    'enum_type[] EnumDescriptorProto 4',
    'options MessageOptions 7',
    'oneof_decl[] OneofDescriptorProto 8',
  ],
  MessageOptions: ['map_entry bool 7'],
  OneofDescriptorProto: ['name string 1'],
  FieldDescriptorProto: [
    'name string 1',
    'number int32 3',
    'label int32 4',
    'type int32 5',
    'type_name string 6',
    'options FieldOptions 8',
    'oneof_index int32 9',
    'json_name string 10',
  ],
  FieldOptions: ['features FeatureSet 21'],
  EnumDescriptorProto: ['name string 1', 'value[] EnumValueDescriptorProto 2'],
  EnumValueDescriptorProto: ['name string 1', 'number int32 2'],
  ServiceDescriptorProto: ['name string 1', 'method[] MethodDescriptorProto 2'],
  MethodDescriptorProto: [
    'name string 1',
    'input_type string 2',
    'output_type string 3',
    'options MethodOptions 4',
    'client_streaming bool 5',
    'server_streaming bool 6',
  ],
  MethodOptions: ['http HttpRule 72295728'],
  HttpRule: [
    'get string 2',
    'put string 3',
    'post string 4',
    'delete string 5',
    'patch string 6',
    'body string 7',
    'custom CustomHttpPattern 8',
    'additional_bindings[] HttpRule 11',
    'response_body string 12',
  ],
  CustomHttpPattern: ['kind string 1', 'path string 2'],
};

let loaded: Protobuf.Type | undefined;

function descriptorSetType(): Protobuf.Type {
  if (loaded) return loaded;
  const { Root } = protobufjs();
  const nested = Object.fromEntries(
    Object.entries(MESSAGES).map(([name, fields]) => [
      name,
      // What is absent is told apart from what is 0 or empty.
      { edition: 'proto2', fields: Object.fromEntries(fields.map(declaration)) },
    ]),
  );
  return (loaded = Root.fromJSON({ nested }).lookupType('FileDescriptorSet'));
}

function declaration(field: string): [string, Protobuf.IField] {
  const [name = '', type = '', id] = field.split(' ');
  return name.endsWith('[]')
    ? [name.slice(0, -2), { rule: 'repeated', type, id: Number(id) }]
    : [name, { type, id: Number(id) }];
}

/** Undefined: the bytes are none. What is absent has its default, but for what may be absent. */
export function readDescriptorSet(bytes: Uint8Array): readonly FileDescriptor[] | undefined {
  try {
    const set = descriptorSetType().decode(bytes) as unknown as {
      readonly file: readonly FileDescriptor[];
    };
    return set.file;
  } catch {
    return undefined;
  }
}

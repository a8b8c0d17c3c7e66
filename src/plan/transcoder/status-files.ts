// Descriptors of google.rpc.Status and what it holds, for descriptor sets without them.
import type { FieldDescriptor, FileDescriptor } from './descriptor-set.js';

const STRING = 9;
const MESSAGE = 11;
const BYTES = 12;
const INT32 = 5;

const field = (
  name: string,
  number: number,
  type: number,
  more: Partial<FieldDescriptor> = {},
): FieldDescriptor => ({ name, number, label: 1, type, type_name: '', ...more });

function file(
  pack: string,
  name: string,
  message: string,
  fields: readonly FieldDescriptor[],
): FileDescriptor {
  const descriptor = {
    name: message,
    field: fields,
    nested_type: [],
    enum_type: [],
    oneof_decl: [],
  };
  return {
    name,
    package: pack,
    dependency: [],
    message_type: [descriptor],
    enum_type: [],
    service: [],
    syntax: 'proto3',
  };
}

/** In the order in which they are needed. */
export const STATUS_FILES: readonly { readonly message: string; readonly file: FileDescriptor }[] =
  [
    {
      message: 'google.protobuf.Any',
      file: file('google.protobuf', 'google/protobuf/any.proto', 'Any', [
        field('type_url', 1, STRING),
        field('value', 2, BYTES),
      ]),
    },
    {
      message: 'google.rpc.Status',
      file: file('google.rpc', 'google/rpc/status.proto', 'Status', [
        field('code', 1, INT32),
        field('message', 2, STRING),
        field('details', 3, MESSAGE, { label: 3, type_name: '.google.protobuf.Any' }),
      ]),
    },
  ];

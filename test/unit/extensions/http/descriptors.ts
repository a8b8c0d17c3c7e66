// Descriptors as protoc would write them.
import protobuf from 'protobufjs';

const DESCRIPTOR = protobuf.parse(
  `
  syntax = "proto2";
  message FileDescriptorSet { repeated FileDescriptorProto file = 1; }
  message FileDescriptorProto {
    optional string name = 1;
    optional string package = 2;
    repeated string dependency = 3;
    repeated DescriptorProto message_type = 4;
    repeated ServiceDescriptorProto service = 6;
    optional string syntax = 12;
  }
  message DescriptorProto {
    optional string name = 1;
    repeated FieldDescriptorProto field = 2;
    repeated OneofDescriptorProto oneof_decl = 8;
  }
  message FieldDescriptorProto {
    optional string name = 1;
    optional int32 number = 3;
    optional int32 label = 4;
    optional int32 type = 5;
    optional string type_name = 6;
    optional int32 oneof_index = 9;
  }
  message OneofDescriptorProto { optional string name = 1; }
  message ServiceDescriptorProto {
    optional string name = 1;
    repeated MethodDescriptorProto method = 2;
  }
  message MethodDescriptorProto {
    optional string name = 1;
    optional string input_type = 2;
    optional string output_type = 3;
    optional MethodOptions options = 4;
  }
  message MethodOptions { optional HttpRule http = 72295728; }
  message HttpRule {
    optional string get = 2;
    optional string post = 4;
    optional string body = 7;
    repeated HttpRule additional_bindings = 11;
    optional string response_body = 12;
  }`,
  { keepCase: true },
).root;

export function descriptorSet(files: readonly object[]): Uint8Array {
  return DESCRIPTOR.lookupType('FileDescriptorSet').encode({ file: files }).finish();
}

export const field = (name: string, number: number, type: number, type_name = '') => ({
  name,
  number,
  label: 1,
  type,
  type_name,
});

export const message = (name: string, fields: readonly object[]) => ({ name, field: fields });

export const method = (name: string, input_type: string, output_type: string, http?: object) => ({
  name,
  input_type,
  output_type,
  ...(http && { options: { http } }),
});

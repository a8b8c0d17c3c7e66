// What a field of one value may hold, in the words of protobuf.
export type Scalar =
  | 'double'
  | 'float'
  | 'int32'
  | 'sint32'
  | 'sfixed32'
  | 'uint32'
  | 'fixed32'
  | 'int64'
  | 'sint64'
  | 'sfixed64'
  | 'uint64'
  | 'fixed64'
  | 'bool'
  | 'string'
  | 'bytes';

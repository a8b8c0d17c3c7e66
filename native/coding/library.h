// Functions of libraries that not every Node has: brotli is in all that are supported, zstd
// in 22.15 and later. Where Node lacks one, the system's own takes its place. Neither has headers
// beside Node's, so what is used of them is declared here: both have kept it since their first
// releases of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairlead::coding {

// BROTLI_PARAM_…, BROTLI_OPERATION_…, BROTLI_DECODER_…, of <brotli/encode.h> and <brotli/decode.h>.
namespace brotli {

enum Parameter { Mode = 0, Quality = 1, WindowBits = 2, BlockBits = 3, NoLiteralContexts = 4 };
enum Operation { Process = 0, Flush = 1, Finish = 2 };
enum DecoderParameter { NoRingBufferReallocation = 0 };
enum DecoderResult { Error = 0, Success = 1, NeedsMoreInput = 2, NeedsMoreOutput = 3 };

struct EncoderLibrary {
  void* (*create)(void* allocate, void* free, void* opaque);
  void (*destroy)(void* state);
  int (*set)(void* state, int parameter, uint32_t value);
  int (*compress)(void* state, int operation, size_t* available_in, const uint8_t** next_in,
                  size_t* available_out, uint8_t** next_out, size_t* total_out);
  int (*hasMore)(void* state);
};

struct DecoderLibrary {
  void* (*create)(void* allocate, void* free, void* opaque);
  void (*destroy)(void* state);
  int (*set)(void* state, int parameter, uint32_t value);
  int (*decompress)(void* state, size_t* available_in, const uint8_t** next_in,
                    size_t* available_out, uint8_t** next_out, size_t* total_out);
  int (*hasMore)(const void* state);
};

// Null: there is none. The process has it for good. Any thread.
const EncoderLibrary* encoderLibrary();
const DecoderLibrary* decoderLibrary();

}  // namespace brotli

// Of <zstd.h>.
namespace zstd {

enum Parameter { Level = 100, Strategy = 107, Checksum = 201 };
enum DecoderParameter { MaxWindowLog = 100 };
enum Operation { Continue = 0, Flush = 1, End = 2 };
enum Reset { SessionOnly = 1 };
// Of <zstd_errors.h>.
enum ErrorCode {
  ChecksumWrong = 22,
  DictionaryCorrupted = 30,
  DictionaryWrong = 32,
  MemoryAllocation = 64,
};

struct InBuffer {
  const void* data;
  size_t size;
  size_t position;
};
struct OutBuffer {
  void* data;
  size_t size;
  size_t position;
};

struct Library {
  void* (*createEncoder)();
  size_t (*freeEncoder)(void* context);
  size_t (*setEncoder)(void* context, int parameter, int value);
  size_t (*compress)(void* context, OutBuffer* out, InBuffer* in, int operation);
  size_t (*resetEncoder)(void* context, int what);
  void* (*createEncoderDictionary)(const void* data, size_t size, int level);
  size_t (*freeEncoderDictionary)(void* dictionary);
  size_t (*useEncoderDictionary)(void* context, const void* dictionary);
  void* (*createDecoder)();
  size_t (*freeDecoder)(void* context);
  size_t (*setDecoder)(void* context, int parameter, int value);
  size_t (*decompress)(void* context, OutBuffer* out, InBuffer* in);
  void* (*createDecoderDictionary)(const void* data, size_t size);
  size_t (*freeDecoderDictionary)(void* dictionary);
  size_t (*useDecoderDictionary)(void* context, const void* dictionary);
  unsigned (*numberOfDictionary)(const void* dictionary);
  unsigned (*numberOfFrame)(const void* data, size_t size);
  unsigned (*isError)(size_t result);
  int (*errorCode)(size_t result);
};

const Library* library();

}  // namespace zstd

}  // namespace fairlead::coding

#include "coding/library.h"

#include <dlfcn.h>

namespace fairlead::coding {

namespace {

// Of one library: first of the process, which is Node's, else of the system's file of that name.
class Finder {
 public:
  explicit Finder(const char* file) : file_(file) {}

  // All functions have to be of the same library.
  template <typename Library, typename Fill>
  const Library* find(Library* library, Fill fill) {
    handle_ = RTLD_DEFAULT;
    if (fill(*this)) return library;
    handle_ = dlopen(file_, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return handle_ && fill(*this) ? library : nullptr;
  }
  template <typename Function>
  bool get(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(dlsym(handle_, name));
    return *function != nullptr;
  }

 private:
  const char* const file_;
  void* handle_ = nullptr;
};

}  // namespace

const brotli::EncoderLibrary* brotli::encoderLibrary() {
  static EncoderLibrary library;
  static const EncoderLibrary* const found =
      Finder("libbrotlienc.so.1").find(&library, [](const Finder& in) {
        return in.get("BrotliEncoderCreateInstance", &library.create) &&
               in.get("BrotliEncoderDestroyInstance", &library.destroy) &&
               in.get("BrotliEncoderSetParameter", &library.set) &&
               in.get("BrotliEncoderCompressStream", &library.compress) &&
               in.get("BrotliEncoderHasMoreOutput", &library.hasMore);
      });
  return found;
}

const brotli::DecoderLibrary* brotli::decoderLibrary() {
  static DecoderLibrary library;
  static const DecoderLibrary* const found =
      Finder("libbrotlidec.so.1").find(&library, [](const Finder& in) {
        return in.get("BrotliDecoderCreateInstance", &library.create) &&
               in.get("BrotliDecoderDestroyInstance", &library.destroy) &&
               in.get("BrotliDecoderSetParameter", &library.set) &&
               in.get("BrotliDecoderDecompressStream", &library.decompress) &&
               in.get("BrotliDecoderHasMoreOutput", &library.hasMore);
      });
  return found;
}

const zstd::Library* zstd::library() {
  static Library library;
  static const Library* const found = Finder("libzstd.so.1").find(&library, [](const Finder& in) {
    return in.get("ZSTD_createCCtx", &library.createEncoder) &&
           in.get("ZSTD_freeCCtx", &library.freeEncoder) &&
           in.get("ZSTD_CCtx_setParameter", &library.setEncoder) &&
           in.get("ZSTD_compressStream2", &library.compress) &&
           in.get("ZSTD_CCtx_reset", &library.resetEncoder) &&
           in.get("ZSTD_createCDict", &library.createEncoderDictionary) &&
           in.get("ZSTD_freeCDict", &library.freeEncoderDictionary) &&
           in.get("ZSTD_CCtx_refCDict", &library.useEncoderDictionary) &&
           in.get("ZSTD_createDCtx", &library.createDecoder) &&
           in.get("ZSTD_freeDCtx", &library.freeDecoder) &&
           in.get("ZSTD_DCtx_setParameter", &library.setDecoder) &&
           in.get("ZSTD_decompressStream", &library.decompress) &&
           in.get("ZSTD_createDDict", &library.createDecoderDictionary) &&
           in.get("ZSTD_freeDDict", &library.freeDecoderDictionary) &&
           in.get("ZSTD_DCtx_refDDict", &library.useDecoderDictionary) &&
           in.get("ZSTD_getDictID_fromDDict", &library.numberOfDictionary) &&
           in.get("ZSTD_getDictID_fromFrame", &library.numberOfFrame) &&
           in.get("ZSTD_isError", &library.isError) &&
           in.get("ZSTD_getErrorCode", &library.errorCode);
  });
  return found;
}

}  // namespace fairlead::coding

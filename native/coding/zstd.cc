#include "coding/zstd.h"

#include <vector>

#include "coding/library.h"
#include "coding/output.h"

namespace fairlead::coding {

namespace {

using zstd::Library;

// What one piece may become: a block of four bytes can say 128 KiB.
constexpr size_t kMaxPieceBytes = 16 * 1024 * 1024;

// Of encoders or decoders; immutable, any thread.
class Dictionary {
 public:
  Dictionary(void* dictionary, size_t (*free)(void*)) : dictionary_(dictionary), free_(free) {}
  ~Dictionary() { free_(dictionary_); }
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  const void* get() const { return dictionary_; }

 private:
  void* const dictionary_;
  size_t (*const free_)(void*);
};

class ZstdEncoder final : public Encoder {
 public:
  ZstdEncoder(const Library& library, const plan::Encoder& plan, const Dictionary* dictionary)
      : library_(library), out_(plan.chunk_bytes) {
    context_ = library_.createEncoder();
    if (!context_) return;
    library_.setEncoder(context_, zstd::Checksum, plan.checksum ? 1 : 0);
    if (plan.strategy > 0) {
      library_.setEncoder(context_, zstd::Strategy, static_cast<int>(plan.strategy));
    }
    if (dictionary) {
      library_.useEncoderDictionary(context_, dictionary->get());
    } else {
      library_.setEncoder(context_, zstd::Level, static_cast<int>(plan.level));
    }
  }
  ~ZstdEncoder() override {
    if (context_) library_.freeEncoder(context_);
  }
  bool isOpen() const { return context_ != nullptr; }

  std::string_view encode(std::string_view data, bool end) override {
    out_.clear();
    zstd::InBuffer in{data.data(), data.size(), 0};
    size_t left = 0;
    do {
      uint8_t* const room = out_.room();
      zstd::OutBuffer out{room, out_.roomBytes(), 0};
      left = library_.compress(context_, &out, &in, end ? zstd::End : zstd::Flush);
      out_.setLeft(out.size - out.position);
    } while (left > 0 && library_.isError(left) == 0);
    return out_.view();
  }

  bool reset() override {
    out_.trim();
    return library_.isError(library_.resetEncoder(context_, zstd::SessionOnly)) == 0;
  }

 private:
  const Library& library_;
  Output out_;
  void* context_ = nullptr;
};

class ZstdEncoderConfig final : public EncoderConfig {
 public:
  ZstdEncoderConfig(const Library& library, const plan::Encoder& plan)
      : EncoderConfig(plan.coding), library_(library), plan_(plan) {}

  bool open() {
    if (plan_.dictionary.empty()) return true;
    void* const made = library_.createEncoderDictionary(
        plan_.dictionary.data(), plan_.dictionary.size(), static_cast<int>(plan_.level));
    if (made) dictionary_ = std::make_unique<Dictionary>(made, library_.freeEncoderDictionary);
    return made != nullptr;
  }

  std::unique_ptr<Encoder> make() const override {
    auto encoder = std::make_unique<ZstdEncoder>(library_, plan_, dictionary_.get());
    if (!encoder->isOpen()) return nullptr;
    return encoder;
  }

 private:
  const Library& library_;
  const plan::Encoder plan_;
  // Null: there is none.
  std::unique_ptr<Dictionary> dictionary_;
};

class ZstdDecoderConfig final : public DecoderConfig {
 public:
  ZstdDecoderConfig(const Library& library, const plan::Decoder& plan)
      : DecoderConfig(plan.coding), library_(library), chunk_bytes_(plan.chunk_bytes) {}

  // False: it is none.
  bool add(std::string_view dictionary) {
    void* const made = library_.createDecoderDictionary(dictionary.data(), dictionary.size());
    if (!made) return false;
    const unsigned number = library_.numberOfDictionary(made);
    dictionaries_.push_back(
        {number, std::make_unique<Dictionary>(made, library_.freeDecoderDictionary)});
    return true;
  }

  std::unique_ptr<Decoder> make() const override;
  const Library& library() const { return library_; }
  uint32_t chunkBytes() const { return chunk_bytes_; }
  bool hasDictionaries() const { return !dictionaries_.empty(); }
  // Null: there is none of that number.
  const Dictionary* find(unsigned number) const {
    for (const Numbered& one : dictionaries_) {
      if (one.number == number) return one.dictionary.get();
    }
    return nullptr;
  }

 private:
  struct Numbered {
    unsigned number;
    std::unique_ptr<Dictionary> dictionary;
  };
  const Library& library_;
  const uint32_t chunk_bytes_;
  std::vector<Numbered> dictionaries_;
};

class ZstdDecoder final : public Decoder {
 public:
  explicit ZstdDecoder(const ZstdDecoderConfig& config)
      : config_(config), library_(config.library()), out_(config.chunkBytes()) {
    context_ = library_.createDecoder();
  }
  ~ZstdDecoder() override {
    if (context_) library_.freeDecoder(context_);
  }
  bool isOpen() const { return context_ != nullptr; }

  Decoded decode(std::string_view data) override {
    out_.clear();
    if (data.empty()) return {};
    if (config_.hasDictionaries() && !std::exchange(has_begun_, true)) {
      const unsigned number = library_.numberOfFrame(data.data(), data.size());
      if (number != 0 && !use(number)) return {{}, DecodeError::Dictionary};
    }
    zstd::InBuffer in{data.data(), data.size(), 0};
    bool is_full = false;
    // What fills the room may go on without more bytes.
    while (in.position < in.size || is_full) {
      uint8_t* const room = out_.room();
      zstd::OutBuffer out{room, out_.roomBytes(), 0};
      const size_t result = library_.decompress(context_, &out, &in);
      out_.setLeft(out.size - out.position);
      if (library_.isError(result) != 0) return {out_.view(), errorOf(result)};
      if (out_.size() > kMaxPieceBytes) return {out_.view(), DecodeError::Data};
      is_full = out.position == out.size && result != 0;
    }
    return {out_.view()};
  }

  bool reset() override { return false; }

 private:
  bool use(unsigned number) {
    const Dictionary* const found = config_.find(number);
    return found && library_.isError(library_.useDecoderDictionary(context_, found->get())) == 0;
  }
  DecodeError errorOf(size_t result) const {
    switch (library_.errorCode(result)) {
      case zstd::MemoryAllocation:
        return DecodeError::Memory;
      case zstd::DictionaryCorrupted:
      case zstd::DictionaryWrong:
        return DecodeError::Dictionary;
      case zstd::ChecksumWrong:
        return DecodeError::Checksum;
      default:
        return DecodeError::Data;
    }
  }

  const ZstdDecoderConfig& config_;
  const Library& library_;
  Output out_;
  void* context_ = nullptr;
  bool has_begun_ = false;
};

std::unique_ptr<Decoder> ZstdDecoderConfig::make() const {
  auto decoder = std::make_unique<ZstdDecoder>(*this);
  if (!decoder->isOpen()) return nullptr;
  return decoder;
}

constexpr const char* kNoZstd =
    "zstd is not supported by this Node (22.15 and later have it), nor is there a libzstd.so.1 of "
    "the system";

}  // namespace

Result<std::unique_ptr<const EncoderConfig>> buildZstdEncoder(const plan::Encoder& plan) {
  const Library* const library = zstd::library();
  if (!library) return Error{kNoZstd};
  auto config = std::make_unique<ZstdEncoderConfig>(*library, plan);
  if (!config->open()) return Error{"zstd cannot use the dictionary"};
  return std::unique_ptr<const EncoderConfig>(std::move(config));
}

Result<std::unique_ptr<const DecoderConfig>> buildZstdDecoder(const plan::Decoder& plan) {
  const Library* const library = zstd::library();
  if (!library) return Error{kNoZstd};
  auto config = std::make_unique<ZstdDecoderConfig>(*library, plan);
  for (const std::string& dictionary : plan.dictionaries) {
    if (!config->add(dictionary)) return Error{"zstd cannot use the dictionary"};
  }
  return std::unique_ptr<const DecoderConfig>(std::move(config));
}

}  // namespace fairlead::coding

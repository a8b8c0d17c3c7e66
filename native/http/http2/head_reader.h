// Header blocks to messages: the rules that RFC 9113 (8) has for names, values and pseudo headers,
// and the limits of ours. One thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/codec_settings.h"
#include "http/http2/hpack_decoder.h"
#include "http/message.h"
#include "plan/plan.gen.h"

namespace fairlead::http2 {

// What came before the other fields. No data: it did not.
struct PseudoHeaders {
  std::string_view method;
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
  std::string_view protocol;
  std::string_view status;
};

// Headers of one connection alone, which no message of HTTP/2 has (RFC 9113, 8.2.2).
inline bool isOfConnection(http::HeaderId id) { return http::kConnectionHeaders.has(id); }

enum class Message : uint8_t { Request, Response, Trailers };

struct ReadHead {
  enum class Result : uint8_t {
    Ok,
    // The block is no HPACK: the connection cannot go on.
    Undecodable,
    // It breaks a rule: `details` says which.
    Broken,
    // More bytes or fields than the limits allow: `details` says which.
    TooLarge,
  };
  static constexpr uint64_t kNoLength = UINT64_MAX;

  Result result = Result::Ok;
  std::string_view details = {};
  PseudoHeaders pseudo = {};
  uint64_t length = kNoLength;
  // Names and values.
  uint32_t header_bytes = 0;
  // Too large: there are too many of them.
  bool is_count = false;
};

// One block as it is read. Of what it breaks, the first counts.
class BlockReader {
 public:
  BlockReader(Message message, const http::HeadLimits& limits, const plan::Http2Options& options,
              http::HeaderMap& headers, Arena& arena)
      : message_(message), limits_(limits), options_(options), headers_(headers), arena_(arena) {}

  // Its bytes stay as long as the headers are used.
  void take(Field& field);
  // The block has ended.
  ReadHead finish();
  // What is known of it so far.
  const ReadHead& read() const { return read_; }
  // Nobody wants to know any more what the rest of the block says.
  bool isSpent() const { return read_.result != ReadHead::Result::Ok; }

 private:
  bool isFull(const Field& field);
  void takePseudo(const Field& field);
  std::string_view* placeOf(std::string_view name);
  bool isPseudoValue(const std::string_view& value) const;
  void takeHeader(Field& field);
  bool takeLength(std::string_view value);
  void joinCookies();
  void checkRequest();
  void broken(std::string_view details) {
    if (read_.result != ReadHead::Result::Ok) return;
    read_.result = ReadHead::Result::Broken;
    read_.details = details;
  }

  const Message message_;
  const http::HeadLimits& limits_;
  const plan::Http2Options& options_;
  http::HeaderMap& headers_;
  Arena& arena_;
  ReadHead read_;
  uint32_t fields_ = 0;
  uint32_t cookies_ = 0;
  uint32_t cookie_bytes_ = 0;
  bool has_headers_ = false;
  bool repeats_ = false;
  http::HeaderEntry* host_ = nullptr;
  // Of those that are joined when they repeat.
  uint64_t seen_[(static_cast<size_t>(http::HeaderId::kCount) + 63) / 64] = {};
};

// The fields but the pseudo headers go to `headers`, a request's cookies in one line. What is made
// lives in `arena`. The block is read to its end unless it is undecodable.
ReadHead readHead(HpackDecoder& decoder, std::string_view block, Message message,
                  const http::HeadLimits& limits, const plan::Http2Options& options,
                  http::HeaderMap& headers, Arena& arena);

}  // namespace fairlead::http2

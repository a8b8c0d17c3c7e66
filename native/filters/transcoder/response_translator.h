// The body of an answer in frames of gRPC, as JSON: one message, or those of a stream, as a list,
// by lines, or as events (Server-Sent Events). One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "filters/transcoder/message_printer.h"

namespace fairlead::transcoder {

enum class Delimiter : uint8_t { List, Lines, Events };

class ResponseTranslator {
 public:
  ResponseTranslator(const TypeTable& types, const MessageType& type, const PrintOptions& options,
                     bool is_stream, Delimiter delimiter)
      : printer_(types, options), type_(type), is_stream_(is_stream), delimiter_(delimiter) {}

  // Appends what is whole. False: error() says what is wrong, and nothing more may be given.
  bool add(std::string_view frames, std::string* json);
  // There is no more.
  void finish(std::string* json);
  // The name of the status that goes with it.
  std::string_view errorStatus() const { return error_.empty() ? "INVALID_ARGUMENT" : "INTERNAL"; }
  const std::string& error() const { return error_.empty() ? printer_.error() : error_; }
  // Of the frame that is under way.
  size_t keptBytes() const { return kept_.size(); }

 private:
  bool addMessage(std::string_view message, std::string* json);

  MessagePrinter printer_;
  const MessageType& type_;
  const bool is_stream_;
  const Delimiter delimiter_;
  std::string kept_;
  // Of frames; empty: it is the printer's.
  std::string error_;
  bool is_first_ = true;
  bool is_done_ = false;
};

}  // namespace fairlead::transcoder

// A request and its answer as trees of matchers ask of them. On the stack of who asks; the worker's
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/context.h"
#include "match/match_tree.h"
#include "route/request_view.h"

namespace fairlead::route {

// What filters have set; nullopt: they have not.
std::optional<match::MetadataText> metadataOf(const format::FormatContext& context,
                                              const match::MetadataCondition& condition);

// The same of what the configuration says of the route.
std::optional<match::MetadataText> routeMetadataOf(const format::FormatContext& context,
                                                   const match::MetadataCondition& condition);

class TreeFacts final : public match::Facts {
 public:
  explicit TreeFacts(const RequestView& request) : request_(request) {}

  // What has come so far; null: it has not.
  const http::HeaderMap* request_trailers = nullptr;
  const http::HeaderMap* response_headers = nullptr;
  const http::HeaderMap* response_trailers = nullptr;
  // Of the answer; 0: there is none so far.
  uint16_t status = 0;
  bool is_local_reply = false;

  // Something was asked for that is still to come: what was found does not count.
  bool lacksSomething() const { return lacks_something_; }

  // match::Facts
  std::optional<std::string_view> text(const plan::MatchInput& input,
                                       std::string* room) const override;
  std::string_view address(const plan::MatchInput& input) const override;
  std::optional<match::MetadataText> metadata(
      const match::MetadataCondition& condition) const override;

 private:
  std::optional<std::string_view> requestHeader(const std::string& name, std::string* room) const;
  std::optional<std::string_view> connectionText(const plan::MatchInput& input,
                                                 std::string* room) const;
  // Nothing: it is still to come.
  std::optional<std::string_view> headerOf(const http::HeaderMap* headers, const std::string& name,
                                           std::string* room) const;
  std::optional<std::string_view> later() const {
    lacks_something_ = true;
    return std::nullopt;
  }
  // Of the client's address there may be another one: what it is as far as it can be trusted.
  const net::Address* addressOf(const plan::MatchInput& input) const;
  const format::FormatContext& context() const;

  const RequestView& request_;
  // Made when something asks for it.
  mutable std::optional<format::FormatContext> context_;
  mutable bool lacks_something_ = false;
};

}  // namespace fairlead::route

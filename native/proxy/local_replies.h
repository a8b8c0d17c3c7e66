// What a connection manager makes of answers that are the proxy's own: other statuses, headers and
// bodies, by mappers and formats. Immutable; shared by all workers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access_log/filter.h"
#include "base/arena.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "format/reply_body.h"
#include "http/message.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"

namespace fairlead::proxy {

using format::ReplyBody;

class LocalReplies {
 public:
  static Result<std::shared_ptr<const LocalReplies>> build(const plan::LocalReplies& plan,
                                                           RuntimeSlots* slots);

  // Whether it speaks of the request's head.
  bool readsRequestHead() const { return reads_request_head_; }

  struct Reply {
    uint16_t status;
    std::string body;
    // Whether the body goes by another name than its headers say.
    std::string_view content_type = "text/plain";
  };
  // `context` speaks of the answer as it is. `random`: draws for shares.
  void rewrite(format::FormatContext& context, uint64_t random, http::HeaderMap& headers,
               Arena& arena, Reply* reply) const;

 private:
  struct Mapper {
    // None: it takes nothing.
    std::optional<access_log::Filter> filter;
    std::optional<uint16_t> status;
    std::optional<std::string> body;
    std::unique_ptr<const ReplyBody> format;
    route::MutationList headers;
  };

  std::vector<Mapper> mappers_;
  std::unique_ptr<const ReplyBody> format_;
  bool reads_request_head_ = false;
};

}  // namespace fairlead::proxy

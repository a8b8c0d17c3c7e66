// What an authorization service is told of a request: made of its head, and asked once its body is
// there, as far as that is wanted. Of one request; the worker's thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/proto_writer.h"
#include "calls/call.h"
#include "filters/http/ext_authz_service.h"
#include "filters/http/filter_place.h"
#include "http/saved_head.h"
#include "route/request_view.h"

namespace fairlead::filters {

inline constexpr std::string_view kCheckMethod = "/envoy.service.auth.v3.Authorization/Check";

class ExtAuthzCheck {
 public:
  using Extensions = std::vector<std::pair<std::string_view, std::string_view>>;

  // Takes down what there is at the head. What follows speaks of `with`.
  void begin(const ExtAuthzSettings& settings, const AuthzService& with,
             const http::RequestHead& head, const route::RequestView& view,
             const FilterPlace& place, uint64_t stream_id, const Extensions& extensions);
  // `body`: what there is of it, null data: it is not told. `is_partial`: there is more.
  void ask(calls::Call& call, calls::Calls& calls, const FilterPlace& place, std::string_view body,
           bool is_partial, bool as_bytes);

 private:
  void beginGrpc(const http::RequestHead& head, const route::RequestView& view,
                 const FilterPlace& place, uint64_t stream_id, const Extensions& extensions);
  void beginHttp(const http::RequestHead& head, const route::RequestView& view);
  void addHeader(std::string_view name, std::string_view value);
  bool isTold(std::string_view name) const;

  const ExtAuthzSettings* settings_ = nullptr;
  const AuthzService* service_ = nullptr;
  // Of gRPC: the attributes before those of the request, that one's, and those after it.
  ProtoWriter before_;
  ProtoWriter http_;
  ProtoWriter after_;
  std::string time_;
  // Of HTTP.
  http::SavedHead head_;
};

// What a service is told of a connection (CheckRequest).
std::string connectionCheck(const plan::NetworkExtAuthz& plan, const format::FormatContext& context,
                            const net::Address& remote);

}  // namespace fairlead::filters

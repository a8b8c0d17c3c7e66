// How hosts, which are proxies, are asked for tunnels, and what they say: `tunneling_config` of the
// TCP proxy. Immutable; shared by all workers.
#pragma once

#include <string>
#include <string_view>

#include "format/format.h"
#include "http/codec.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"

namespace fairlead::tcp {

// The values of a request for a tunnel, made for one session.
struct TunnelRequest {
  std::string_view authority;
  // Without the id.
  http::HeaderMap* headers;
};

class Tunneling {
 public:
  explicit Tunneling(const plan::TunnelingConfig& plan);

  // POST, as any request; else CONNECT.
  bool usesPost() const { return uses_post_; }
  // Of POST.
  const std::string& path() const { return path_; }
  bool keepsHeaders() const { return keeps_headers_; }
  bool keepsTrailers() const { return keeps_trailers_; }
  // Each request has an id, under this header; empty: none has.
  const std::string& idHeader() const { return id_header_; }
  // Where logs find it, in the metadata of kMetadataSpace.
  const std::string& idKey() const { return id_key_; }
  static constexpr std::string_view kMetadataSpace = "envoy.filters.network.tcp_proxy";

  // Values live as long as the arena, and as this does. `headers`: empty; filled. `id`: of the
  // request; empty: it has none.
  TunnelRequest request(const format::FormatContext& context, std::string_view id,
                        http::HeaderMap& headers, Arena& arena) const;
  // The CONNECT of HTTP/1 whole; empty: no head can hold it.
  std::string connectHead(const format::FormatContext& context, std::string_view id) const;

 private:
  const format::Format hostname_;
  const route::HeaderMutations headers_;
  const std::string path_;
  const std::string id_header_;
  const std::string id_key_;
  const bool uses_post_;
  const bool keeps_headers_;
  const bool keeps_trailers_;
};

// What a host said, as formats show it: {"headers":[{"key":…,"value":…}]}. `status`: 0: trailers.
std::string shownHeaders(unsigned status, const http::HeaderMap& headers);
// The same of an answer's head in HTTP/1, whole.
std::string shownHead(std::string_view head);
// What its header lines count, as logs have it.
uint32_t headerBytes(std::string_view head);
// Of a request's head: the bytes of its header lines.
uint32_t headerLineBytes(std::string_view head);

}  // namespace fairlead::tcp

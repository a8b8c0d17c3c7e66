// What is known of one request and its answer: what routing, counting, logs and headers speak of.
// Part of a stream, whose two halves write it; keeps its memory from use to use. The worker's
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "format/context.h"
#include "http/byte_meter.h"
#include "http/kept_names.h"
#include "http/saved_head.h"
#include "log/log.h"
#include "net/filter_state.h"
#include "proxy/http_server.h"
#include "tracing/request_trace.h"

namespace fairlead::proxy {

class Downstream;

struct StreamInfo {
  // What every request reads and writes comes first: with thousands of streams, each line of the
  // cache that one takes is fetched from memory.

  // ---- whose it is ----
  // Null: the stream rests.
  HttpServer* server = nullptr;
  // Null: of a copy, which no client sees.
  const Downstream* downstream = nullptr;
  // A random number of this request.
  uint64_t id = 0;

  // ---- the request ----
  // The head where it was read, while that handler runs.
  http::RequestHead* live_head = nullptr;
  // "http" or "https", or what the configuration says instead; empty: nobody has looked so far.
  std::string_view scheme;
  // As RequestFacts has it.
  bool lacks_scheme = false;
  bool is_internal = false;
  bool is_http_10 = false;
  bool is_http2 = false;
  bool is_head = false;
  bool is_connect = false;
  // It asks for another protocol.
  bool is_upgrade = false;
  bool is_websocket = false;
  // It came over HTTP/2, which says so otherwise.
  bool is_extended_connect = false;
  // What was taken from the name that a CONNECT asks for, which its host is to hear; 0: nothing.
  uint16_t connect_port = 0;
  // It asks for a tunnel, and may have one: it counts as an upgrade that is active.
  bool is_granted = false;
  bool is_grpc = false;
  bool is_health_check = false;
  // The answer has been composed whole.
  bool is_answer_whole = false;
  // A redirect was not followed: as in the real server, logs and headers tell of where it led.
  bool tells_other_route = false;

  // ---- where it goes ----
  // Its virtual host, route and target are of this one.
  route::TablePin table;
  // Of that table, where it comes once it is asked for. For this turn; null: none is.
  const std::string* missing_table = nullptr;
  const route::VirtualHost* virtual_host = nullptr;
  const route::Route* route = nullptr;
  const route::Target* target = nullptr;
  // Where it is counted apart; null: nowhere.
  const route::RequestGroup* group = nullptr;
  // What the connection manager says of the upgrade that is asked for; null: nothing.
  const HttpConfig::Upgrade* upgrade = nullptr;
  // Held, by use(): it goes on until the request's end, whatever becomes of it.
  upstream::WorkerCluster* cluster = nullptr;
  upstream::Host* host = nullptr;

  // ---- what became of it ----
  // 0: there is no answer so far.
  uint16_t status = 0;
  // 0: the request was never to go to a host.
  uint32_t attempts = 0;
  format::ResponseFlags flags;
  uint64_t start_us = 0;
  // 0: not yet, of these two.
  uint64_t request_end_us = 0;
  uint64_t response_begin_us = 0;
  // When the router had all of the request: later than its end where filters held it. 0: not yet.
  uint64_t request_forwarded_us = 0;
  // Of bodies.
  uint64_t bytes_received = 0;
  uint64_t bytes_sent = 0;
  // Of everything.
  http::ByteMeter downstream_bytes;
  http::ByteMeter upstream_bytes;
  std::string details;
  // The client as far as it can be trusted.
  net::Address client_address;

  // Empty: no host has it so far.
  std::string_view upstream_protocol;
  // Null: nothing is traced.
  tracing::RequestTrace* trace = nullptr;

  // What logs, headers and filters may speak of besides. Most requests need none of it: its memory
  // is not even looked at then.
  struct Uncommon {
    // The request's head as routing left it.
    http::SavedHead request;
    http::SavedHead response;
    http::SavedHead response_trailers;
    // Where it is neither http nor https.
    std::string odd_scheme;
    // Of the upgrade that is asked for, as the request has it.
    std::string upgrade_name;
    net::SharedTlsInfo upstream_tls;
    std::string_view transport_failure;
    net::Address upstream_local;
    std::string cluster_name;
    // Where a redirect led that was not followed; null: to no route.
    const route::Route* other_route = nullptr;
    std::string other_cluster;
    // By its filters.
    std::vector<format::SetMetadata> metadata;
    std::vector<const plan::TypedMetadata*> typed_metadata;
    // As requestNames(), responseNames().
    const http::KeptNames* request_names = nullptr;
    std::unique_ptr<const http::KeptNames> response_names;
    // The one before, where the request has asked for its routes anew.
    route::TablePin older_table;
    // Null: nobody ever asked for it. Kept from use to use.
    std::unique_ptr<format::Exchange> exchange;
    // Which filter gave an answer in place of a host.
    std::string_view reply_owner;
    // Null: nobody has set any.
    std::unique_ptr<net::FilterState> filter_state;
    // How much of its request may wait, as a filter wants it.
    std::optional<uint32_t> request_limit;

    void clear();
  };
  const Uncommon& uncommon() const { return uncommon_; }
  // To write to.
  Uncommon& touchUncommon() {
    has_uncommon_ = true;
    return uncommon_;
  }

  // The first one stays: what another filter puts in the place of its answer is still of it.
  void noteReplyOwner(std::string_view name) {
    if (uncommon_.reply_owner.empty()) touchUncommon().reply_owner = name;
  }

  // How the client, and the host, wrote the names of their headers; null: nobody asks.
  const http::KeptNames* requestNames() const {
    return has_uncommon_ ? uncommon_.request_names : nullptr;
  }
  const http::KeptNames* responseNames() const {
    return has_uncommon_ ? uncommon_.response_names.get() : nullptr;
  }

  const HttpConfig& config() const { return server->config(); }
  Context& context() const { return server->context(); }
  net::Loop& loop() const { return server->context().loop(); }
  // What follows its head are a tunnel's bytes.
  bool tunnels() const { return is_connect || is_upgrade; }
  // How much of a message may wait here. As the real server: of HTTP/2 what its client may send
  // ahead, whatever the connection may keep.
  uint32_t bufferLimit() const {
    const HttpConfig& config = this->config();
    return is_http2 ? config.plan.http2->stream_window_bytes : config.buffer_limit_bytes;
  }
  // The same of the request, behind its filters.
  uint32_t requestLimit() const { return uncommon_.request_limit.value_or(bufferLimit()); }
  // HTTP/1.0 is spoken with hosts as HTTP/1.1 is.
  http::Version clientVersion() const {
    return is_http2 ? http::Version::Http2 : http::Version::Http11;
  }
  // Of a head that is this request's.
  route::RequestView viewOf(const http::RequestHead& head) const;
  // The cluster that the target names, or a header that it names; null: it is not there.
  upstream::WorkerCluster* findTarget() const;
  // Null: nobody asks for it.
  format::Exchange* exchange() {
    if (!format::isExchangeWanted()) return nullptr;
    std::unique_ptr<format::Exchange>& exchange = touchUncommon().exchange;
    if (!exchange) exchange = std::make_unique<format::Exchange>();
    return exchange.get();
  }
  void mark(format::TimePoint point) {
    if (format::Exchange* noted = exchange()) noted->markFirst(point, loop().nowMicros());
  }
  // Null: none.
  void use(upstream::WorkerCluster* one) {
    if (one) one->hold();
    if (cluster) cluster->letGo();
    cluster = one;
  }
  // There is another try, on another connection.
  void forgetTransport() {
    if (!has_uncommon_) return;
    uncommon_.transport_failure = {};
    uncommon_.upstream_tls.reset();
  }
  // Of the route, or of the cluster that it chose. Null: there is no route.
  const route::MutationChain* mutations() const {
    return target ? &target->chain : route ? &route->chain : nullptr;
  }
  // What lines of the log begin with; made when a line is on.
  auto tags() const {
    return [this] { return makeTags(); };
  }
  // Heads of the context live in the worker's scratch memory until the next call.
  void fill(format::FormatContext* out) const;
  // What spans tell of it; `format`: filled. As long as that is.
  tracing::Facts traceFacts(const format::FormatContext& format) const;
  // The same of an answer that has been given, for logs.
  void fillAnswer(format::FormatContext* out) const;
  // As new.
  void clear();

 private:
  log::Tags makeTags() const;
  void fillMetadata(format::FormatContext* out) const;

  bool has_uncommon_ = false;
  Uncommon uncommon_;
};

}  // namespace fairlead::proxy

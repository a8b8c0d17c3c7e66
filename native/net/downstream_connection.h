// A client's connection as its listener knows it: counted, listed, and told to end.
// Base of everything that speaks with clients (HTTP, TCP relay, …). The worker's thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/list.h"
#include "net/address.h"
#include "net/connection_gate.h"
#include "net/file_descriptor.h"
#include "net/findings.h"
#include "net/loop.h"
#include "net/proxied_client.h"
#include "net/tls_info.h"

namespace fairlead::format {
struct FormatContext;
}  // namespace fairlead::format

namespace fairlead::net {

class FilterState;
class DownstreamConnection;
class HeavyStreams;

// What accept(2) gave.
struct AcceptedSocket {
  FileDescriptor fd;
  Address remote;
  Address local;
  // Of the whole process; what %CONNECTION_ID% shows.
  uint64_t id;
  // Null: no listener filter had a look.
  std::unique_ptr<Findings> findings = nullptr;

  const Address& directRemote() const { return findings ? findings->direct_remote : remote; }
  const Address& directLocal() const { return findings ? findings->direct_local : local; }
};

// Counts connections of one listener on one worker.
class ConnectionAccounts {
 public:
  virtual void onConnectionOpened() = 0;
  virtual void onConnectionClosed(const DownstreamConnection& connection, uint64_t length_ms) = 0;

 protected:
  ~ConnectionAccounts() = default;
};

// The access logs of a listener on one worker: a line for each connection.
class ConnectionLog {
 public:
  virtual ~ConnectionLog() = default;
  virtual void onEnded(const DownstreamConnection& connection) = 0;
  // It fits no filter chain.
  virtual void onUnmatched(const AcceptedSocket& socket) = 0;
  // It ended before its filter chain was chosen.
  virtual void onUnfinished(const AcceptedSocket& socket) = 0;
};

class DownstreamConnection : public ListNode<DownstreamConnection> {
 public:
  // Takes all of `socket` but its descriptor.
  DownstreamConnection(ConnectionAccounts& accounts, AcceptedSocket& socket)
      : accounts_(&accounts),
        started_at_us_(socket.findings ? socket.findings->accepted_at_us : Loop::readClockMicros()),
        remote_(std::move(socket.remote)),
        local_(std::move(socket.local)),
        id_(socket.id),
        more_(socket.findings ? new More{std::move(socket.findings), nullptr, nullptr} : nullptr) {
    accounts_->onConnectionOpened();
  }
  DownstreamConnection(const DownstreamConnection&) = delete;
  DownstreamConnection& operator=(const DownstreamConnection&) = delete;

  // Ends now.
  virtual void abort() = 0;
  // Nothing that has come waits for an answer, and nothing is likely to come right now. Who cannot
  // know says so always.
  virtual bool isQuiet() const { return true; }

  // Its filter chain drains, or did so already when it came: who can tell its client plans to.
  virtual void onDrain() {}

  // Adds its streams that hold memory.
  virtual void addStreams(HeavyStreams*) {}
  // Ends one of them. False: it has ended before.
  virtual bool shedStream(uint32_t) { return false; }

  // Of its socket, in milliseconds; 0: less than one, or nobody knows.
  virtual uint64_t roundTripMs() const { return 0; }

  // Adds what an access log may say of it, but for addresses and times.
  virtual void describe(format::FormatContext*) const {}

  const Address& remote() const { return remote_; }
  const Address& local() const { return local_; }
  // The socket's own, where a listener filter put others in their place.
  const Address& directRemote() const { return findings() ? findings()->direct_remote : remote_; }
  const Address& directLocal() const { return findings() ? findings()->direct_local : local_; }
  // Null: no listener filter had a look.
  const Findings* findings() const { return more_ ? more_->findings.get() : nullptr; }
  // Null: it does not speak TLS.
  const TlsInfo* tls() const { return more_ ? more_->tls.get() : nullptr; }
  // By the loop's clock; 0: it has none, or none so far.
  uint64_t handshakeAtMicros() const { return more_ ? more_->handshake_at_us : 0; }
  // As hosts may be told of it.
  SharedProxiedClient asProxied() const {
    return std::make_shared<const ProxiedClient>(
        ProxiedClient{remote_, local_, findings() ? findings()->passed_tlvs : std::string()});
  }
  uint64_t id() const { return id_; }
  uint64_t startedAtMicros() const { return started_at_us_; }
  // What it passed: goes with it.
  void hold(std::unique_ptr<GatePass> pass) { touchMore().pass = std::move(pass); }
  // Its dynamic metadata: what listener filters found, and what was told since. Null: there is
  // none.
  const Findings::Metadata* metadata() const {
    if (more_ && more_->metadata) return more_->metadata.get();
    return findings() ? &findings()->metadata : nullptr;
  }
  void tell(std::string_view space, std::string_view key, std::string_view value) {
    More& more = touchMore();
    if (!more.metadata) {
      more.metadata = findings() ? std::make_unique<Findings::Metadata>(findings()->metadata)
                                 : std::make_unique<Findings::Metadata>();
    }
    (*more.metadata)[std::string(space)].insert_or_assign(std::string(key), value);
  }
  // What filters keep with it, under names; null: nothing.
  FilterState* filterState() const { return sharedFilterState().get(); }
  const std::shared_ptr<FilterState>& sharedFilterState() const {
    static const std::shared_ptr<FilterState> none;
    if (!more_) return none;
    return more_->filter_state || !more_->findings ? more_->filter_state
                                                   : more_->findings->filter_state;
  }
  void keepFilterState(std::shared_ptr<FilterState> state) {
    if (state) touchMore().filter_state = std::move(state);
  }
  // Why it was ended from here; empty: it was not, or nobody says why.
  std::string_view termination() const {
    return more_ ? std::string_view(more_->termination) : std::string_view();
  }
  void setTermination(std::string_view why) { touchMore().termination = why; }
  // Who or what ends it from here; empty: it does not end from here, or nobody says so.
  std::string_view closedBy() const {
    return more_ ? std::string_view(more_->closed_by) : std::string_view();
  }
  void setClosedBy(std::string who) { touchMore().closed_by = std::move(who); }
  // Why a service did not let it go on: static text; empty: it did, or was not asked.
  std::string_view refusal() const { return more_ ? more_->refusal : std::string_view(); }
  void setRefusal(std::string_view why) { touchMore().refusal = why; }

 protected:
  virtual ~DownstreamConnection() = default;
  void setTls(SharedTlsInfo tls) {
    if (tls) touchMore().tls = std::move(tls);
  }
  void noteHandshake() {
    if (more_) more_->handshake_at_us = Loop::readClockMicros();
  }
  // Once: the connection is over, though the object may live to the end of the turn.
  void leaveListener() {
    ConnectionAccounts* accounts = std::exchange(accounts_, nullptr);
    if (!accounts) return;
    unlink();
    accounts->onConnectionClosed(*this, (Loop::readClockMicros() - started_at_us_) / 1000);
    if (more_) more_->pass.reset();
  }

 private:
  // Null: it has left.
  ConnectionAccounts* accounts_;
  const uint64_t started_at_us_;
  const Address remote_;
  const Address local_;
  const uint64_t id_;
  // What most connections have not.
  struct More {
    std::unique_ptr<const Findings> findings;
    SharedTlsInfo tls;
    std::unique_ptr<const GatePass> pass = nullptr;
    std::unique_ptr<Findings::Metadata> metadata = nullptr;
    std::shared_ptr<FilterState> filter_state = nullptr;
    std::string termination = {};
    std::string_view refusal = {};
    std::string closed_by = {};
    uint64_t handshake_at_us = 0;
  };
  More& touchMore() {
    if (!more_) more_ = std::make_unique<More>();
    return *more_;
  }
  std::unique_ptr<More> more_;
};

// Makes connections of one filter chain on one worker.
class ConnectionFactory {
 public:
  virtual ~ConnectionFactory() = default;
  // Null: the connection was refused and is closed. The object owns itself.
  virtual DownstreamConnection* accept(AcceptedSocket socket, ConnectionAccounts& accounts) = 0;
  // One was refused before it was to be made: who counts connections counts it.
  virtual void onRefused() {}
  // The same one has ended: who logs connections logs it.
  virtual void onRefusedEnded(const DownstreamConnection&) {}
  // Adds to what is said of one that was refused.
  virtual void describeRefused(format::FormatContext*) const {}
};

}  // namespace fairlead::net

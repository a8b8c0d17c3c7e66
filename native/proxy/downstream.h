// One client's HTTP connection: makes a stream of each request and counts what happens to the
// connection itself. Owns itself, as its codec does. The worker's thread.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "http/codecs.h"
#include "net/downstream_connection.h"
#include "net/received_bytes.h"
#include "proxy/http_server.h"

namespace fairlead::proxy {

class Stream;

class Downstream final : public net::DownstreamConnection,
                         public net::Mortal,
                         private http::ServerCodecCallbacks {
 public:
  // Takes all of `socket` but its descriptor.
  Downstream(HttpServer& server, net::AcceptedSocket& socket, net::ConnectionAccounts& accounts);

  // False: it has ended already.
  bool start(net::FileDescriptor fd);

  HttpServer& server() { return server_; }
  // The client has been asked to close, and is given time to do so; what it still asks is answered.
  bool isDraining() const { return draining_; }
  // The next answer of HTTP/1 is to be its last, whenever it comes.
  bool isSoft() const { return is_soft_; }
  void startDraining();
  // Whether the answer to the request that is served now must be the connection's last.
  bool isAtRequestLimit() const;
  bool isHttp2() const { return is_http2_; }
  // The connection ends with requests under way: counted once.
  void countActiveRequests(bool by_peer);
  bool isBroken() const { return is_broken_; }
  // What came is not what it speaks, in the real server's words: it ends for that.
  void onBroken(std::string_view why) override;
  // Of HTTP/2: a request has ended, after so long, answered or not. The connection may end of it.
  void onRequestEnded(uint64_t lifetime_us, bool is_answered);

  // What filters keep with the connection, each under a number of its own.
  std::shared_ptr<void>& kept(uint64_t number);

  // net::DownstreamConnection
  void abort() override;
  void onDrain() override;
  void addStreams(net::HeavyStreams* into) override;
  bool shedStream(uint32_t stream) override;
  bool isQuiet() const override;
  void describe(format::FormatContext* context) const override;
  uint64_t roundTripMs() const override { return net::roundTripMs(codec_ ? codec_->fd() : -1); }

 private:
  // Of max_connection_duration.
  class Lifetime final : public net::Timer {
   public:
    explicit Lifetime(Downstream& downstream) : downstream_(downstream) {}
    ~Lifetime() { disarm(); }
    void onTimer() override { downstream_.onMaxDuration(); }
    void onRescale() override { downstream_.watchLifetime(); }

   private:
    Downstream& downstream_;
  };

  // Tells a client that asks nothing of a drain.
  class DrainNotice final : public net::Timer {
   public:
    explicit DrainNotice(Downstream& downstream) : downstream_(downstream) {}
    ~DrainNotice() { disarm(); }
    void onTimer() override { downstream_.onDrainNotice(); }

   private:
    Downstream& downstream_;
  };

  // Why it ends from here, as logs tell of it; a filter that ends it says so itself.
  enum class Ending : uint32_t { None, Idle, MaxDuration, Told, Drained, Late };
  std::string_view endingText() const;

  // What most connections do without: idle ones are to be small.
  struct Rare {
    explicit Rare(Downstream& downstream) : lifetime(downstream), drain_notice(downstream) {}

    Lifetime lifetime;
    DrainNotice drain_notice;
    // Of HTTP/2: requests that ended, and those of them that nobody waited for.
    uint32_t ended = 0;
    uint32_t premature = 0;
    std::vector<std::pair<uint64_t, std::shared_ptr<void>>> kept;
  };
  Rare& rare() {
    if (!rare_) rare_ = std::make_unique<Rare>(*this);
    return *rare_;
  }

  // The codec while a transport shakes hands: it speaks of nothing yet.
  class Handshake final : public http::ServerCodec, private net::ConnectionHandler {
   public:
    Handshake(Downstream& downstream, net::Connection& connection)
        : downstream_(downstream), connection_(connection) {
      connection_.setHandler(*this);
    }
    net::Connection& connection() { return connection_; }

    // http::ServerCodec: nothing was asked that could be answered first.
    void endAfter(net::Millis) override { abort(); }
    void finish() override { abort(); }
    void abort() override { end(false); }
    bool isIdleFor(net::Millis) const override { return true; }

   private:
    void end(bool by_peer);
    void onReady(int error) override;
    void onReadable() override {}
    void onWriteFailed() override { abort(); }

    Downstream& downstream_;
    net::Connection& connection_;
  };

  void onHandshakeOver();
  http::Protocol protocolOf(net::Connection& connection) const;
  void speak(net::Connection& connection, http::Protocol protocol);
  void watchLifetime();
  void onMaxDuration();
  void onDrainNotice();
  void shedConnection(std::string_view why);
  // `kind` and `why`, with underscores for blanks.
  void setEndedBy(std::string_view kind, std::string_view why);
  void countProtocol(http::Protocol protocol);

  // http::ServerCodecCallbacks
  http::RequestSink* newStream(http::ServerStream& stream, Opening opening) override;
  void onHttp2(net::Connection& connection, std::string_view bytes) override;
  Dispatch onDispatch() override;
  bool shedsDispatch() override;
  void onProtocolError(http::Breach breach, std::string_view details) override;
  void onEnding(std::string_view why) override;
  stats::Shard<stats::Http2Codec>& http2Stats() override { return server_.http2Stats(); }
  void onIdleTimeout() override;
  void onDelayedCloseTimeout() override;
  void onBytes(uint64_t received, uint64_t sent) override;
  void onConnectionClosed(bool by_peer) override;

  HttpServer& server_;
  // A Handshake at first where a transport shakes hands.
  std::unique_ptr<http::ServerCodec> codec_;
  // Null where nothing of it is needed.
  std::unique_ptr<Rare> rare_;
  uint64_t received_ = 0;
  uint64_t sent_ = 0;
  // Small, as each idle connection has them.
  uint32_t requests_ : 24 = 0;
  // Not even its first bytes were looked at.
  bool is_unheard_ : 1 = false;
  // It ends for what the overload manager sheds.
  bool is_shed_ : 1 = false;
  bool draining_ : 1 = false;
  // Something has come that was not broken.
  bool has_spoken_ : 1 = false;
  bool is_broken_ : 1 = false;
  bool is_http2_ : 1 = false;
  bool has_lost_requests_ : 1 = false;
  bool is_closed_ : 1 = false;
  // Its time was over, and its client has not been told so far.
  uint32_t is_soft_ : 1 = 0;
  Ending ending_ : 3 = Ending::None;
  // What downstream_cx_rx_bytes_buffered says: the size of the latest read.
  uint32_t shown_as_buffered_ : 28 = 0;
};

}  // namespace fairlead::proxy

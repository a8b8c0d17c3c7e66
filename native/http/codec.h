// All that the proxy and the upstream side know of HTTP: connections that a codec drives, and the
// streams on them. Filters and the router know streams, never codecs; http/codecs.h makes these of
// a configuration. All calls are on the worker's thread; views and heads live until the call
// returns.
//
// Order of a message: one head; any number of data; `end` on the last of these, or trailers. After
// end, trailers or reset nothing more comes. A codec calls onReadEnd() once it has told all that
// one read brought, so that what was gathered for the other side leaves in one system call.
//
// What speaks of a connection (keep-alive, version, draining, how it closes) is the codec's; a
// stream is one exchange on it.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/byte_meter.h"
#include "http/kept_names.h"
#include "http/message.h"
#include "net/connection.h"
#include "stats/registry.h"

namespace fairlead::http {

// Why a stream ended early, as seen from this side.
enum class ResetReason : uint8_t {
  // The peer closed or reset its connection.
  ConnectionTermination,
  // What the peer sent is not the protocol.
  ProtocolError,
  // From here.
  LocalReset,
  // The peer gave up this stream alone.
  RemoteReset,
  // It has not looked at the stream, which may safely be tried again.
  RemoteRefused,
  // It could not connect to whom a CONNECT asks for.
  ConnectError,
  // From here, of this stream alone: its head was more than the limits allow.
  TooLarge,
  // From here: it held too much memory.
  Overload,
};

// ---- downstream ----

// What a codec tells of one request. Implemented by the proxy's stream.
class RequestSink {
 public:
  // `head` may be changed by the callee; its views live until the call returns.
  virtual void onRequestHead(RequestHead& head, bool end) = 0;
  virtual void onRequestData(std::string_view data, bool end) = 0;
  virtual void onRequestTrailers(HeaderMap& trailers) = 0;
  virtual void onRequestReadEnd() = 0;
  // What came breaks the protocol: the sink answers with that status and ends the connection, or
  // resets what it has begun to answer.
  virtual void onRequestBroken(uint16_t status, std::string_view details) = 0;
  // What came is shed, be it of a request or not: the sink answers so and ends the connection, or
  // resets what it has begun to answer.
  virtual void onRequestShed() {}
  // The rest of the head did not come in time.
  virtual void onRequestHeadTimeout() = 0;
  // The client is gone, or the connection ended from here. The sink must not use its ServerStream
  // any more.
  virtual void onRequestReset(ResetReason reason, std::string_view details) = 0;
  // What was written for the client fell below the low watermark.
  virtual void onDownstreamWritable() = 0;
  // The answer is composed whole, and its client does not take all of it now: onAnswerComplete(),
  // onAnswerDropped() or onRequestReset() follows. The sink must not use its ServerStream any more.
  virtual void onAnswerComposed() {}
  // The answer is composed whole, and left to the connection. The sink must not use its
  // ServerStream any more.
  virtual void onAnswerComplete() = 0;
  // After onAnswerComposed(): nobody waits for the client any longer.
  virtual void onAnswerDropped() { onAnswerComplete(); }
  // Where the codec counts what the exchange moves.
  virtual ByteMeter& downstreamMeter() = 0;
  // Memory that the exchange holds, `waiting` of it for what waits of its answer in the codec.
  virtual size_t heldMemory(size_t waiting) const { return waiting; }

 protected:
  ~RequestSink() = default;
};

// A head to be written. Entries whose name is empty are skipped. With 101 to a request that asked
// for another protocol, and 2xx to CONNECT, a tunnel begins: data are its bytes.
struct ResponseOut {
  uint16_t status;
  HeaderMap* headers;
  // HTTP/1: the connection ends after this answer. The codec knows reasons of its own besides.
  bool close = false;
  // How HTTP/1 writes the names; null: in lower case, or as the codec is told.
  const KeptNames* names = nullptr;
};

// The socket beneath a body that bytes may be moved to past the codec, by splice(2).
class RawSink {
 public:
  virtual int fd() const = 0;
  virtual bool canWriteNow() const = 0;
  virtual void markUnwritable() = 0;
  // `bytes` of the body were moved; `end`: these were the last, and the answer is complete.
  virtual void onGiven(size_t bytes, bool end) = 0;

 protected:
  ~RawSink() = default;
};

// What the proxy answers through: implemented by codecs.
class ServerStream {
 public:
  virtual void sendInformational(uint16_t status, HeaderMap* headers) = 0;
  // Adds what the codec has to say of the connection. Then sendHead() with the same head.
  virtual void finishHead(ResponseOut& head, bool end) = 0;
  virtual void sendHead(const ResponseOut& head, bool end) = 0;
  virtual void sendData(std::string_view data, bool end) = 0;
  // `trailers` may be null: the body ends without any.
  virtual void sendTrailers(HeaderMap* trailers) = 0;
  // Everything gathered goes out now.
  virtual void flush() = 0;
  // The stream ends here without its proper end (an upstream that broke off in a body).
  virtual void reset() = 0;
  virtual bool isOverHighWatermark() const = 0;
  virtual void pauseReading() = 0;
  // Goes on at the end of the turn.
  virtual void resumeReading() = 0;
  // The connection ends after this exchange, whatever the answer says: its client asked for that.
  virtual bool endsConnection() const = 0;
  // Null where bytes may not go past the codec (TLS, HTTP/2, chunks).
  virtual RawSink* rawSink() = 0;
  // In place of what the codec is told for all: how long the client may take to let go of the last
  // bytes, where the protocol holds them back; 0: as long as it wants.
  virtual void setFlushTimeout(net::Millis) {}
  // What the request asked for is a tunnel whose host cannot be reached, or has left (RFC 9113
  // §8.5): what of the request is still to come when its answer has ended is refused for that
  // reason, and a reset gives it.
  virtual void failTunnel() {}

 protected:
  ~ServerStream() = default;
};

// How a peer broke the protocol of its connection.
enum class Breach : uint8_t {
  // What came is not the protocol.
  Rules,
  // Of what the protocol allows came more than anybody needs.
  Flood,
};

// Who owns the meaning of a connection's requests: proxy::Downstream.
class ServerCodecCallbacks {
 public:
  // What a stream begins with.
  enum class Opening : uint8_t {
    Request,
    // Bytes that are no request.
    Malformed,
    // A head whose rest does not come.
    Unfinished,
  };
  // Never null. The sink is told of nothing before this returns.
  virtual RequestSink* newStream(ServerStream& stream, Opening opening) = 0;
  // The client begins as HTTP/2 does, with these bytes: another codec is to take the connection.
  virtual void onHttp2(net::Connection& connection, std::string_view bytes) = 0;
  // Under overload: what becomes of bytes that were read, before anybody looks at them.
  enum class Dispatch : uint8_t {
    Go,
    // The connection ends; its client is waited for a while.
    Drop,
    // The same, once its requests are reset; a client of HTTP/2 is told.
    GoAway,
  };
  virtual Dispatch onDispatch() { return Dispatch::Go; }
  // Of HTTP/1, where they may go: whether they are answered with a refusal instead.
  virtual bool shedsDispatch() { return false; }
  // What came breaks the protocol of the connection, which ends.
  virtual void onProtocolError(Breach breach, std::string_view details) = 0;
  // What came is not what the connection speaks, in the real server's words. More than once: the
  // latest counts.
  virtual void onBroken(std::string_view) {}
  // It ends from here, unless its client ends it first: what is written still leaves. `why` as logs
  // tell of it; empty: nothing is left to do.
  virtual void onEnding(std::string_view /*why*/) {}
  // Where HTTP/2 counts what it does. Asked only then.
  virtual stats::Shard<stats::Http2Codec>& http2Stats() = 0;
  virtual void onIdleTimeout() = 0;
  virtual void onDelayedCloseTimeout() = 0;
  // All that has moved since the connection began.
  virtual void onBytes(uint64_t received, uint64_t sent) = 0;
  // Once, and last. `by_peer`: the client ended it.
  virtual void onConnectionClosed(bool by_peer) = 0;

 protected:
  ~ServerCodecCallbacks() = default;
};

// One client's connection. Owned by its callbacks, which outlive it and keep it to the end of the
// turn in which it closed.
class ServerCodec : public net::Mortal {
 public:
  // Bytes that another codec has read of the connection, as if they were read now.
  virtual void takeFirst(std::string_view bytes) {}
  // Ends after so long; a request that is under way then is still answered.
  virtual void endAfter(net::Millis ms) = 0;
  // Ends once what is written has left.
  virtual void finish() = 0;
  // Ends now.
  virtual void abort() = 0;
  // Of its socket; -1: nobody knows.
  virtual int fd() const { return -1; }
  // For those that look for streams which hold much memory.
  class Holders {
   public:
    virtual void add(uint32_t stream, size_t bytes) = 0;

   protected:
    ~Holders() = default;
  };
  virtual void tellHolders(Holders*) {}
  // Ends the stream that was told of so. `Left`: nobody hears of it, as its answer was composed
  // whole before.
  enum class Shed : uint8_t { Gone, Told, Left };
  virtual Shed shedStream(uint32_t) { return Shed::Gone; }
  // Between two requests for so long at least, with nothing of the next one here. Asks the kernel.
  virtual bool isIdleFor(net::Millis ms) const = 0;
};

// ---- upstream ----

class ResponseSink {
 public:
  // Any number of 1xx (never 101) before the head.
  virtual void onInformational(ResponseHead& head) = 0;
  virtual void onResponseHead(ResponseHead& head, bool end) = 0;
  virtual void onResponseData(std::string_view data, bool end) = 0;
  virtual void onResponseTrailers(HeaderMap& trailers) = 0;
  virtual void onResponseReadEnd() = 0;
  // The sink must not use its ClientStream any more.
  virtual void onResponseReset(ResetReason reason, std::string_view details) = 0;
  virtual void onUpstreamWritable() = 0;
  // The upstream socket is readable while its body is taken raw.
  virtual void onRawReadable() = 0;
  // Where the codec counts what the exchange moves.
  virtual ByteMeter& upstreamMeter() = 0;
  // Its answer is about to be read, or parsed: what it will touch of its own, or what it points to,
  // may be fetched. A hint.
  enum class Ahead : uint8_t { Read, Parsed };
  virtual void prefetch(Ahead) const {}

 protected:
  ~ResponseSink() = default;
};

struct RequestOut {
  std::string_view method;
  std::string_view path;
  // Written first, as `host`.
  std::string_view authority;
  HeaderMap* headers;
  // As the client had it. Of codecs that say it.
  std::string_view scheme = "http";
  // Of an extended CONNECT (RFC 8441); empty: it is none.
  std::string_view protocol = {};
  // It asks for another protocol, as its headers say: data are that one's bytes.
  bool upgrades = false;
  // It goes on when its answer has ended, where the protocol has such a thing (HTTP/2): the stream
  // is over once both are.
  bool outlasts_answer = false;
  // What comes before the first bytes of a tunnel without HTTP.
  std::string_view tunnel_preamble = {};
  // How HTTP/1 writes the names; null: in lower case, or as "Content-Type".
  const KeptNames* names = nullptr;
  bool proper_case = false;
};

// The socket beneath a body that bytes may be taken from past the codec, by splice(2).
class RawSource {
 public:
  virtual int fd() const = 0;
  // Bytes of the body that are still to come; 0 when that is unknown or the body is framed.
  virtual uint64_t remainingBytes() const = 0;
  // From here on the body is taken past the codec: onRawReadable() instead of data.
  virtual void begin() = 0;
  // `bytes` of the body were taken so. With the last of them the answer is complete on this side,
  // and the stream must not be used any more.
  virtual void onTaken(size_t bytes) = 0;
  // The socket has nothing more to take now.
  virtual void markUnreadable() = 0;
  // The socket ended, or failed, before the body did: the sink hears onResponseReset().
  virtual void fail() = 0;

 protected:
  ~RawSource() = default;
};

class ClientStream {
 public:
  virtual void sendHead(const RequestOut& head, bool end) = 0;
  virtual void sendData(std::string_view data, bool end) = 0;
  virtual void sendTrailers(HeaderMap* trailers) = 0;
  virtual void flush() = 0;
  // The answer is no longer wanted. The sink hears nothing more.
  virtual void reset() = 0;
  virtual bool isOverHighWatermark() const = 0;
  virtual void pauseReading() = 0;
  // Goes on at the end of the turn.
  virtual void resumeReading() = 0;
  // Null where bytes may not go past the codec.
  virtual RawSource* rawSource() = 0;
  // Memory of what waits for the host to take it.
  virtual size_t waitingMemory() const = 0;

 protected:
  ~ClientStream() = default;
};

// Who keeps the connection: a pool. Told before the sink of a stream is.
class ClientCodecCallbacks {
 public:
  virtual void onConnected() = 0;
  enum class Failure : uint8_t { Refused, Timeout };
  // The connection was never there, and is over. `error`: errno.
  virtual void onConnectFailed(Failure failure, int error) = 0;
  enum class StreamEnd : uint8_t {
    // Its answer is whole.
    Complete,
    // With its connection.
    Connection,
    // It was given up: from here, or by the host.
    LocalReset,
    RemoteReset,
    // The host has not looked at it.
    Refused,
  };
  // The exchange of that sink is over.
  virtual void onStreamEnded(ResponseSink& sink, StreamEnd end) = 0;
  // How many streams may begin has changed: other than by newStream().
  virtual void onRoom() = 0;
  // The host takes no more streams, and finishes those that it has.
  virtual void onGoaway() = 0;
  enum class CloseReason : uint8_t {
    Peer,
    // The peer ended it in the middle of an answer.
    PeerInMessage,
    Local,
    // The peer said that this answer is its last.
    CloseNotify,
    // The peer said so, and ended the connection to end its answer.
    PeerAfterNotify,
    // The peer said so, and nobody wants the rest of its answer.
    LocalAfterNotify,
    MaxRequests,
    IdleTimeout,
    MaxDuration,
    // The same, once the streams that were there have ended.
    MaxDurationServed,
    ProtocolError,
    // The answer came before the request was sent whole.
    RequestUnsent,
  };
  // The connection is over. `lost_streams`: answers were under way, whose ends have been told.
  virtual void onClosed(CloseReason reason, bool lost_streams) = 0;
  // The sink has heard the end of its answer: requests that wait may have the connection now.
  virtual void serveWaiting() = 0;
  virtual void onBytes(size_t received, size_t sent) = 0;

 protected:
  ~ClientCodecCallbacks() = default;
};

// One connection to a host. Owned by its callbacks, which keep it to the end of the turn in which
// it closed.
class ClientCodec {
 public:
  virtual ~ClientCodec() = default;

  // How many streams may begin now.
  virtual uint32_t freeStreams() const = 0;
  // One of these. The answer goes to `sink`.
  virtual ClientStream& newStream(ResponseSink& sink) = 0;
  // Whether streams are under way.
  virtual bool isActive() const = 0;
  // Whether there may be several at once.
  virtual bool isMultiplexed() const = 0;
  // No more streams begin; it ends with the last of those that it has: now, if there are none.
  virtual void drain() = 0;
  // Ends it now. onClosed() is told.
  virtual void abort(ClientCodecCallbacks::CloseReason reason) = 0;
  virtual net::Connection& connection() = 0;
  // As access logs have it: "HTTP/1.1".
  virtual std::string_view protocol() const = 0;
};

}  // namespace fairlead::http

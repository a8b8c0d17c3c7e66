// The two pairs of interfaces between the proxy and a codec. Filters and the router know streams,
// never codecs. All calls are on the worker's thread; views and heads live until the call returns.
//
// Order of a message: one head; any number of data; `end` on the last of these, or trailers. After
// end, trailers or reset nothing more comes. A codec calls onReadEnd() once it has told all that
// one read brought, so that what was gathered for the other side leaves in one system call.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/byte_meter.h"
#include "http/message.h"
#include "net/address.h"

namespace fairlead::http {

// Why a stream ended early, as seen from this side.
enum class ResetReason : uint8_t {
  // The peer closed or reset its connection.
  ConnectionTermination,
  // The connection could not be made.
  ConnectFailure,
  ConnectTimeout,
  // What the peer sent is not the protocol.
  ProtocolError,
  // A limit of ours.
  Overflow,
  LocalReset,
  // A body that breaks its framing after the head was passed on.
  TruncatedBody,
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
  // The body breaks its framing: the sink answers with that status and ends the connection, or
  // resets what it has begun to answer.
  virtual void onRequestBroken(uint16_t status, std::string_view details) = 0;
  // The client is gone, or the connection ended from here. The sink must not use its ServerStream
  // any more.
  virtual void onRequestReset(ResetReason reason, std::string_view details) = 0;
  // What was written for the client fell below the low watermark.
  virtual void onDownstreamWritable() = 0;
  // The answer is composed whole. The sink must not use its ServerStream any more.
  virtual void onAnswerComplete() = 0;

 protected:
  ~RequestSink() = default;
};

// A head to be written. Entries whose name is empty are skipped.
struct ResponseOut {
  uint16_t status;
  HeaderMap* headers;
  // The answer to a HEAD request: framing headers as for the body that is not sent.
  bool to_head = false;
  bool to_connect = false;
  // The connection ends after this answer; the header that says so is the caller's.
  bool close_after = false;
  // Ending, the connection waits for the client to close its side first, so that an answer to a
  // request that was not read whole is not lost in a reset.
  bool linger = false;
  // "HTTP/1.0" on the status line, and no chunked coding.
  bool http_10 = false;
  // Header names as "Content-Type".
  bool proper_case = false;
};

// What the proxy answers through: implemented by codecs.
class ServerStream {
 public:
  virtual void sendInformational(uint16_t status, HeaderMap* headers) = 0;
  virtual void sendHead(const ResponseOut& head, bool end) = 0;
  virtual void sendData(std::string_view data, bool end) = 0;
  // `trailers` may be null: the body ends without any.
  virtual void sendTrailers(HeaderMap* trailers) = 0;
  // Everything gathered goes out now.
  virtual void flush() = 0;
  // The stream ends here without its proper end (an upstream that broke off in a body). `linger`:
  // the client is given time to close its side first.
  virtual void reset(bool linger) = 0;
  virtual bool isOverHighWatermark() const = 0;
  virtual void pauseReading() = 0;
  virtual void resumeReading() = 0;
  // The raw descriptor for splice(2), -1 where bytes may not go past the codec (TLS, HTTP/2).
  virtual int spliceFd() = 0;
  // `bytes` of the body went to spliceFd() past the codec; `end`: these were the last.
  virtual void onSpliced(size_t bytes, bool end) = 0;
  virtual bool canWriteNow() const = 0;
  virtual void markUnwritable() = 0;

 protected:
  ~ServerStream() = default;
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
  // The upstream socket is readable while a splice is under way.
  virtual void onSpliceReadable() = 0;
  // Where the codec counts what the exchange moves.
  virtual ByteMeter& meter() = 0;

 protected:
  ~ResponseSink() = default;
};

struct RequestOut {
  std::string_view method;
  std::string_view path;
  // Written first, as `host`.
  std::string_view authority;
  HeaderMap* headers;
  bool upgrade = false;
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
  virtual void resumeReading() = 0;
  // Bytes of a length-delimited body that are still to come; 0 when unknown or not spliceable.
  virtual uint64_t spliceableBytes() const = 0;
  virtual int spliceFd() = 0;
  // From here on the body is taken past the codec: onSpliceReadable() instead of data.
  virtual void beginSplice() = 0;
  // `bytes` of the body were taken so. With the last of them the answer is complete on this side,
  // and the stream must not be used any more.
  virtual void onSpliced(size_t bytes) = 0;
  // The socket has nothing more to take now.
  virtual void markUnreadable() = 0;
  // The socket ended, or failed, before the body did: the sink hears onResponseReset().
  virtual void failSplice() = 0;

 protected:
  ~ClientStream() = default;
};

}  // namespace fairlead::http

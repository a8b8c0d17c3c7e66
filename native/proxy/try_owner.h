// Whose tries pass filters on their way to hosts: a router, or a copy of its request. What the
// filters of a try ask of it beyond the try itself. The worker's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "filters/http/local_reply.h"
#include "http/saved_head.h"
#include "proxy/chain_owner.h"
#include "upstream/attempt.h"

namespace fairlead::proxy {

class TryLogs;

class TryOwner : public upstream::AttemptOwner {
 public:
  virtual StreamInfo& tryInfo() = 0;
  // Null: tries are not logged.
  virtual TryLogs* tryLogs() = 0;
  virtual std::shared_ptr<void>& keptByConnection(uint64_t number) = 0;

  // The request, past the filters of one try: they may have changed it. What was kept of it before
  // lives on in `spare`, as its values may be of that.
  virtual void onTryHead(const http::RequestHead& head, http::SavedHead& spare) = 0;
  // The host has a place for the request.
  virtual void onTryReady(upstream::Attempt& attempt, upstream::PooledConnection& connection) = 0;
  // False: no head can hold it, and the try is over.
  virtual bool sendHead(http::ClientStream& to, std::string_view method, std::string_view path,
                        std::string_view authority, http::HeaderMap& headers, bool end) = 0;
  // True: it waits until the host has agreed to a tunnel.
  virtual bool keepsForTunnel(std::string_view data) = 0;
  // More waits for the host than may; what waited is on its way.
  virtual void onTryBehind() = 0;
  virtual void onTrySent() = 0;

  virtual void flushAnswer() = 0;
  virtual void pauseReading() = 0;
  virtual void resumeReading() = 0;
  virtual void pauseAnswer() = 0;
  virtual void resumeAnswer() = 0;

  // A filter of that name has answered in the host's place.
  virtual void replace(const filters::LocalReply& reply, std::string_view name) = 0;
  virtual void answerTooLarge(Excess of, std::string_view name) = 0;

 protected:
  ~TryOwner() = default;
};

}  // namespace fairlead::proxy

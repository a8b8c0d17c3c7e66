// What codecs of one worker borrow: memory for the one head that is being parsed, and for the bytes
// that one handler writes.
#pragma once

#include "http/message.h"
#include "net/out_batch.h"
#include "net/overload.h"

namespace fairlead::http2 {
struct StreamPools;
}

namespace fairlead::http {

struct CodecScratch {
  net::OutBatch& batch;
  RequestHead& request;
  ResponseHead& response;
  // Null: streams do not rest between two uses.
  http2::StreamPools* http2 = nullptr;
  // What clients' timeouts follow, where they do.
  const net::Overload& overload = net::Overload::none();
};

}  // namespace fairlead::http

// HTTP/1 messages as bytes. Pure: writes into a batch that the caller sends.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/codec.h"
#include "net/out_batch.h"

namespace fairlead::http1 {

// How the body that follows a written head is delimited.
enum class OutBody : uint8_t { None, Length, Chunked, UntilClose };

// An upper bound of the bytes that a head takes.
size_t headBytes(const http::HeaderMap& headers, size_t first_line_bytes);

struct WrittenHead {
  OutBody body = OutBody::None;
  // All that was written, and of it the header lines.
  size_t bytes = 0;
  size_t header_bytes = 0;
};

// What the request and its connection make of an answer.
struct ResponseForm {
  // The answer to a HEAD request: framing headers as for the body that is not sent.
  bool to_head = false;
  // A tunnel begins: nothing frames its bytes.
  bool to_tunnel = false;
  // "HTTP/1.0" on the status line, and no chunked coding.
  bool http_10 = false;
  // Header names as "Content-Type".
  bool proper_case = false;
};

WrittenHead writeResponseHead(net::OutBatch& batch, const http::ResponseOut& head,
                              const ResponseForm& form, bool end);
// `has_whole_url`: it asks for the whole URL, not for its path.
WrittenHead writeRequestHead(net::OutBatch& batch, const http::RequestOut& head, bool end,
                             bool has_whole_url = false);

// Of `form`, the version and the names' case. `headers` may be null.
WrittenHead writeInformational(net::OutBatch& batch, uint16_t status,
                               const http::HeaderMap* headers, const ResponseForm& form);
// How many bytes it wrote. `data` must stay until the batch is sent; it may be empty.
size_t writeData(net::OutBatch& batch, OutBody body, std::string_view data);
// What follows the last of the data: nothing where no chunks do. `trailers` may be null.
WrittenHead writeEnd(net::OutBatch& batch, OutBody body, const http::HeaderMap* trailers);

}  // namespace fairlead::http1

// HTTP/1 heads as bytes. Pure: writes into a batch that the caller sends.
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

OutBody writeResponseHead(net::OutBatch& batch, const http::ResponseOut& head, bool end);
// Of a head's bytes, those that belong to no header: its first line and its empty line.
size_t responseHeadFrameBytes(uint16_t status);
size_t requestHeadFrameBytes(const http::RequestOut& head);
OutBody writeRequestHead(net::OutBatch& batch, const http::RequestOut& head, bool end);
void writeInformational(net::OutBatch& batch, uint16_t status, const http::HeaderMap* headers);

// "1a2b\r\n": before a chunk's data; writeChunkEnd() follows it.
void writeChunkStart(net::OutBatch& batch, size_t bytes);
void writeChunkEnd(net::OutBatch& batch);
// "0\r\n", the trailers if any, and the empty line.
void writeLastChunk(net::OutBatch& batch, const http::HeaderMap* trailers);

}  // namespace fairlead::http1

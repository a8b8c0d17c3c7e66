#include "http/http1/serializer.h"

#include <array>
#include <cstring>

namespace fairlead::http1 {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

char* put(char* to, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

char* putHeader(char* to, std::string_view name, std::string_view value) {
  to = put(to, name);
  *to++ = ':';
  *to++ = ' ';
  to = put(to, value);
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

// The names of all header lines between `begin` and `end`.
template <typename Rewrite>
void rewriteNames(char* begin, char* end, Rewrite rewrite) {
  while (begin < end) {
    char* const colon =
        static_cast<char*>(std::memchr(begin, ':', static_cast<size_t>(end - begin)));
    if (!colon) return;
    rewrite(begin, static_cast<size_t>(colon - begin));
    char* const line_end =
        static_cast<char*>(std::memchr(colon, '\n', static_cast<size_t>(end - colon)));
    if (!line_end) return;
    begin = line_end + 1;
  }
}

void formatNames(char* begin, char* end, const http::KeptNames* kept, bool proper_case) {
  if (kept) {
    rewriteNames(begin, end, [kept](char* name, size_t size) { kept->restore(name, size); });
  } else if (proper_case) {
    rewriteNames(begin, end, http::capitalizeWords);
  }
}

// Every entry but the removed ones; notes whether a content-length is among them.
char* putHeaders(char* to, const HeaderMap& headers, bool* has_length) {
  for (const HeaderEntry& entry : headers) {
    if (entry.name_size == 0) continue;
    if (entry.id == HeaderId::ContentLength) *has_length = true;
    to = putHeader(to, entry.name(), entry.value());
  }
  return to;
}

char* putStatusLine(char* to, uint16_t status, bool http_10, std::string_view reason = {}) {
  to = put(to, http_10 ? "HTTP/1.0 " : "HTTP/1.1 ");
  *to++ = static_cast<char>('0' + status / 100 % 10);
  *to++ = static_cast<char>('0' + status / 10 % 10);
  *to++ = static_cast<char>('0' + status % 10);
  *to++ = ' ';
  to = put(to, reason.empty() ? http::reasonPhrase(status) : reason);
  return put(to, "\r\n");
}

// Methods whose requests end with their head where nothing says otherwise; the others say so with a
// length of 0.
bool isBodiless(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "DELETE" || method == "TRACE" ||
         method == "CONNECT";
}

WrittenHead finishHead(net::OutBatch& batch, char* begin, char* names, char* names_end,
                       OutBody body) {
  char* const end = put(names_end, "\r\n");
  batch.commit(end);
  return {body, static_cast<size_t>(end - begin), static_cast<size_t>(names_end - names)};
}

// "1a2b\r\n": before a chunk's data.
void writeChunkStart(net::OutBatch& batch, size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  char text[20];
  int at = 18;
  text[18] = '\r';
  text[19] = '\n';
  do {
    text[--at] = kDigits[bytes & 15];
    bytes >>= 4;
  } while (bytes != 0);
  batch.copy({text + at, static_cast<size_t>(20 - at)});
}

}  // namespace

size_t headBytes(const HeaderMap& headers, size_t first_line_bytes) {
  size_t bytes = first_line_bytes + 96;
  for (const HeaderEntry& entry : headers) bytes += entry.name_size + entry.value_size + 4;
  return bytes;
}

WrittenHead writeResponseHead(net::OutBatch& batch, const http::ResponseOut& head,
                              const ResponseForm& form, bool end) {
  // RFC 9110 §8.6: these say nothing of a length.
  if (head.status < 200 || head.status == 204) head.headers->remove(HeaderId::ContentLength);
  const std::string_view reason = head.names ? std::string_view(head.names->reason) : "";
  char* const begin = batch.reserve(headBytes(*head.headers, 64 + reason.size()));
  char* to = putStatusLine(begin, head.status, form.http_10, reason);
  char* const names = to;
  bool has_length = false;
  to = putHeaders(to, *head.headers, &has_length);
  OutBody body = OutBody::None;
  const bool never_has_body = head.status < 200 || head.status == 204 || head.status == 304;
  if (form.to_tunnel) {
    body = OutBody::UntilClose;
  } else if (has_length) {
    body = OutBody::Length;
  } else if (never_has_body) {
    body = OutBody::None;
  } else if (end && !form.to_head) {
    to = put(to, "content-length: 0\r\n");
  } else if (form.http_10) {
    body = OutBody::UntilClose;
  } else {
    to = put(to, "transfer-encoding: chunked\r\n");
    body = OutBody::Chunked;
  }
  formatNames(names, to, head.names, form.proper_case);
  return finishHead(batch, begin, names, to,
                    end || (form.to_head && !form.to_tunnel) ? OutBody::None : body);
}

WrittenHead writeRequestHead(net::OutBatch& batch, const http::RequestOut& head, bool end,
                             bool has_whole_url) {
  const size_t first_line =
      head.method.size() + head.scheme.size() + head.path.size() + 2 * head.authority.size() + 32;
  char* const begin = batch.reserve(headBytes(*head.headers, first_line));
  char* to = put(begin, head.method);
  *to++ = ' ';
  if (has_whole_url) to = put(put(put(to, head.scheme), "://"), head.authority);
  to = put(to, head.path);
  to = put(to, " HTTP/1.1\r\n");
  char* const names = to;
  to = putHeader(to, "host", head.authority);
  bool has_length = false;
  to = putHeaders(to, *head.headers, &has_length);
  OutBody body = OutBody::None;
  if (!end && (head.upgrades || head.method == "CONNECT")) {
    body = OutBody::UntilClose;
  } else if (has_length) {
    body = OutBody::Length;
  } else if (!end) {
    to = put(to, "transfer-encoding: chunked\r\n");
    body = OutBody::Chunked;
  } else if (!isBodiless(head.method)) {
    to = put(to, "content-length: 0\r\n");
  }
  formatNames(names, to, head.names, head.proper_case);
  return finishHead(batch, begin, names, to, end ? OutBody::None : body);
}

WrittenHead writeInformational(net::OutBatch& batch, uint16_t status, const HeaderMap* headers,
                               const ResponseForm& form) {
  char* const begin = batch.reserve(headers ? headBytes(*headers, 64) : 128);
  char* const names = putStatusLine(begin, status, form.http_10);
  char* to = names;
  bool ignored = false;
  if (headers) to = putHeaders(to, *headers, &ignored);
  formatNames(names, to, nullptr, form.proper_case);
  return finishHead(batch, begin, names, to, OutBody::None);
}

size_t writeData(net::OutBatch& batch, OutBody body, std::string_view data) {
  if (data.empty()) return 0;
  const size_t before = batch.size();
  if (body == OutBody::Chunked) writeChunkStart(batch, data.size());
  batch.addView(data);
  if (body == OutBody::Chunked) batch.copy("\r\n");
  return batch.size() - before;
}

WrittenHead writeEnd(net::OutBatch& batch, OutBody body, const HeaderMap* trailers) {
  if (body != OutBody::Chunked) return {};
  char* const begin = batch.reserve(trailers ? headBytes(*trailers, 8) : 16);
  char* const names = put(begin, "0\r\n");
  char* to = names;
  bool ignored = false;
  if (trailers) to = putHeaders(to, *trailers, &ignored);
  return finishHead(batch, begin, names, to, body);
}

}  // namespace fairlead::http1

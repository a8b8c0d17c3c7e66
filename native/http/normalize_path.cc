#include "http/normalize_path.h"

#include <algorithm>
#include <cstring>

#include "base/hex.h"

namespace fairlead::http {

namespace {

// The byte that "%XX" at `at` stands for; -1 when it is no escape.
int escapedAt(std::string_view text, size_t at) {
  if (text[at] != '%' || at + 2 >= text.size()) return -1;
  const int high = hexValue(text[at + 1]);
  const int low = hexValue(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool isUnreserved(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

bool mustEscape(char c) {
  return c == '"' || c == '<' || c == '>' || c == '`' || c == '{' || c == '}' || c == '^' ||
         c == '|';
}

bool hasEscapedSlash(std::string_view path) {
  for (size_t i = 0; i < path.size(); ++i) {
    const int c = escapedAt(path, i);
    if (c == '/' || c == '\\') return true;
  }
  return false;
}

char* unescapeSlashes(std::string_view path, char* to) {
  for (size_t i = 0; i < path.size(); ++i) {
    const int c = escapedAt(path, i);
    if (c == '/' || c == '\\') {
      *to++ = static_cast<char>(c);
      i += 2;
    } else {
      *to++ = path[i];
    }
  }
  return to;
}

// Unreserved bytes unescaped, backslashes turned, what a path may not have escaped.
char* canonicalBytes(std::string_view path, char* to) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (size_t i = 0; i < path.size(); ++i) {
    const int c = escapedAt(path, i);
    if (isUnreserved(c)) {
      *to++ = static_cast<char>(c);
      i += 2;
    } else if (path[i] == '\\') {
      *to++ = '/';
    } else if (mustEscape(path[i])) {
      *to++ = '%';
      *to++ = kHex[static_cast<uint8_t>(path[i]) >> 4];
      *to++ = kHex[path[i] & 15];
    } else {
      *to++ = path[i];
    }
  }
  return to;
}

// "/..;a=b/" as "/../", in place: to many a host a dot segment with parameters is one still. As the
// real server has it, dots that are escaped have none.
char* dropDotParameters(char* begin, char* end) {
  char* to = begin;
  for (char* at = begin; at < end;) {
    // `at` is at a slash.
    char* const segment_end = std::find(at + 1, end, '/');
    const std::string_view segment(at + 1, static_cast<size_t>(segment_end - at - 1));
    const std::string_view name = segment.substr(0, segment.find(';'));
    const size_t kept = 1 + (name == "." || name == ".." ? name : segment).size();
    std::memmove(to, at, kept);
    to += kept;
    at = segment_end;
  }
  return to;
}

// RFC 3986 §5.2.4, in place.
char* removeDotSegments(char* begin, char* end) {
  char* to = begin;
  for (char* at = begin; at < end;) {
    // `at` is at a slash.
    char* segment_end = at + 1;
    while (segment_end < end && *segment_end != '/') ++segment_end;
    const std::string_view segment(at + 1, static_cast<size_t>(segment_end - at - 1));
    const bool last = segment_end == end;
    if (segment == "." || segment == "..") {
      if (segment == "..") {
        while (to > begin && *--to != '/') {
        }
      }
      if (last) *to++ = '/';
    } else {
      const auto size = static_cast<size_t>(segment_end - at);
      std::memmove(to, at, size);
      to += size;
    }
    at = segment_end;
  }
  return to;
}

// A path of slashes only keeps two of them, as the real server has it.
char* mergeSlashes(char* begin, char* end) {
  char* to = begin;
  for (char* at = begin; at < end; ++at) {
    if (*at != '/' || to == begin || to[-1] != '/') *to++ = *at;
  }
  if (to - begin == 1 && end - begin > 1) *to++ = '/';
  return to;
}

bool hasEscapedNul(std::string_view path) {
  for (size_t i = 0; i < path.size(); ++i) {
    if (escapedAt(path, i) == 0) return true;
  }
  return false;
}

// Whether nothing in a path can be rewritten by any rule: what most paths are.
bool isPlain(std::string_view path) {
  char before = 0;
  for (const char c : path) {
    if (before == '/' && (c == '/' || c == '.')) return false;
    if (c == '%' || c == '\\' || mustEscape(c)) return false;
    before = c;
  }
  return true;
}

}  // namespace

NormalizedPath normalizePath(std::string_view whole, const PathRules& rules, Arena& arena) {
  using Result = NormalizedPath::Result;
  const size_t query_at = whole.find_first_of("?#");
  const std::string_view path = whole.substr(0, query_at);
  const std::string_view rest =
      query_at == std::string_view::npos ? std::string_view() : whole.substr(query_at);
  if (isPlain(path)) return {Result::Unchanged, whole};
  const bool slashes = rules.escaped_slashes != EscapedSlashes::Keep && hasEscapedSlash(path);
  if (slashes && rules.escaped_slashes == EscapedSlashes::Reject) {
    // As the real server's logs have it.
    char* const shown = arena.allocate(whole.size());
    char* const shown_end = unescapeSlashes(path, shown);
    const size_t size = static_cast<size_t>(shown_end - shown) + rest.copy(shown_end, rest.size());
    return {Result::Rejected, {shown, size}};
  }
  if (!slashes && !rules.normalize && !rules.merge_slashes) return {Result::Unchanged, whole};
  // A byte may become three.
  const size_t room = path.size() * 3 + rest.size();
  char* const begin = arena.allocate(room);
  char* end = begin;
  if (rules.normalize) {
    char* const unescaped = arena.allocate(path.size());
    char* const unescaped_end =
        dropDotParameters(unescaped, slashes ? unescapeSlashes(path, unescaped)
                                             : unescaped + path.copy(unescaped, path.size()));
    const std::string_view named(unescaped, static_cast<size_t>(unescaped_end - unescaped));
    if (hasEscapedNul(named)) return {Result::Rejected, whole};
    end = canonicalBytes(named, begin);
    end = removeDotSegments(begin, end);
  } else {
    end = slashes ? unescapeSlashes(path, begin) : begin + path.copy(begin, path.size());
  }
  if (rules.merge_slashes) end = mergeSlashes(begin, end);
  end += rest.copy(end, rest.size());
  const std::string_view result(begin, static_cast<size_t>(end - begin));
  if (result == whole) return {Result::Unchanged, whole};
  const bool redirect = slashes && rules.escaped_slashes == EscapedSlashes::UnescapeAndRedirect;
  return {redirect ? Result::Redirect : Result::Changed, result};
}

}  // namespace fairlead::http

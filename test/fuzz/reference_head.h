// A head as a careful other reader sees it, one line after another; written without the scanner, so
// that the fuzz targets can hold one against the other. Slow, and strict where RFC 9112 lets a
// reader choose.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::fuzz {

enum class LineEnds { CrLf, LfToo };

struct ReferenceHead {
  std::string first_line;
  // Names in lower case, values trimmed; of folded lines each begins with an LF.
  std::vector<std::pair<std::string, std::string>> fields;
  size_t bytes = 0;

  std::vector<std::string> all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [field, value] : fields) {
      if (field == name) values.push_back(value);
    }
    return values;
  }
};

inline std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

inline std::string_view withoutBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Nothing: there is no whole head, or a line of it is broken.
inline std::optional<ReferenceHead> readReferenceHead(std::string_view input, LineEnds ends) {
  ReferenceHead head;
  size_t at = 0;
  while (input.substr(at).starts_with("\r\n")) at += 2;
  for (bool first = true;; first = false) {
    const size_t lf = input.find('\n', at);
    if (lf == std::string_view::npos) return std::nullopt;
    std::string_view line = input.substr(at, lf - at);
    at = lf + 1;
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    } else if (ends == LineEnds::CrLf) {
      return std::nullopt;
    }
    if (ends == LineEnds::CrLf && line.find('\r') != std::string_view::npos) return std::nullopt;
    if (first) {
      head.first_line = line;
    } else if (line.empty()) {
      head.bytes = at;
      return head;
    } else if (line[0] == ' ' || line[0] == '\t') {
      if (head.fields.empty()) return std::nullopt;
      head.fields.back().second.append("\n").append(line);
    } else {
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos) return std::nullopt;
      head.fields.emplace_back(lowered(line.substr(0, colon)),
                               withoutBlanks(line.substr(colon + 1)));
    }
  }
}

// How the body behind a head is delimited (RFC 9112 §6): "none", "length N", "chunked", or
// "refused", where two readers could disagree.
inline std::string referenceFraming(const ReferenceHead& head, bool chunked_wins) {
  const std::vector<std::string> codings = head.all("transfer-encoding");
  const std::vector<std::string> lengths = head.all("content-length");
  if (codings.size() > 1 || lengths.size() > 1) return "refused";
  if (!codings.empty()) {
    if (lowered(codings[0]) != "chunked") return "refused";
    return lengths.empty() || chunked_wins ? "chunked" : "refused";
  }
  if (lengths.empty()) return "none";
  uint64_t value = 0;
  for (const char c : lengths[0]) {
    if (c < '0' || c > '9') return "refused";
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) return "refused";
    value = value * 10 + digit;
  }
  if (lengths[0].empty()) return "refused";
  return value == 0 ? "none" : "length " + std::to_string(value);
}

}  // namespace fairlead::fuzz

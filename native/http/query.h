// Parameters of a path's query, in the order of their names, as the real server keeps them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::http {

// "%2f" becomes "/"; what is no such escape stays. '+' stays, too.
std::string percentDecoded(std::string_view text);
void appendPercentDecoded(std::string_view text, std::string* out);
// All but letters, digits and "-._~" become escapes.
std::string percentEncoded(std::string_view text);

// The value of the first parameter of that name, with escapes decoded in both. `room` may hold it.
// Nothing: there is none.
std::optional<std::string_view> queryParameter(std::string_view query, std::string_view name,
                                               std::string* room);

class Query {
 public:
  enum class Decoding : uint8_t { None, Percent };

  // Of a path with its query.
  static Query of(std::string_view path, Decoding decoding);

  // The first one of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  void remove(std::string_view name);
  // The path without the parameters whose names stand for `name`. All others stay as they were
  // sent, in the order of their names.
  static std::string without(std::string_view path, std::string_view name);
  // Behind those of that name.
  void add(std::string_view name, std::string_view value);
  // In the place of all of that name.
  void overwrite(std::string_view name, std::string_view value);
  bool empty() const { return parameters_.empty(); }
  // "?a=b&c=d"; empty: there are none. Values stand as they are.
  std::string text() const;

 private:
  // Sorted by name; those of one name in the order in which they came.
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace fairlead::http

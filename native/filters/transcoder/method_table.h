// Which method a request is for, by its HTTP method and its path, and what path and query bind. A
// tree of path segments; immutable, all workers read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plan/plan.gen.h"

namespace fairlead::transcoder {

// What a variable of a path, or a query parameter, says of a field.
struct BoundText {
  std::vector<std::string_view> field_path;
  std::string value;
};

class MethodTable {
 public:
  // `plan` outlives the table. A path that two methods have is nobody's.
  explicit MethodTable(const plan::GrpcJsonTranscoder& plan);

  // Null: there is none. `path` is without its query; what is bound has views of both.
  const plan::HttpBinding* find(std::string_view http_method, std::string_view path,
                                std::string_view query, std::vector<BoundText>* bound) const;

 private:
  struct Node {
    std::unordered_map<std::string_view, std::unique_ptr<Node>> children;
    // By HTTP method and verb. Null: several have it.
    std::unordered_map<std::string, const plan::HttpBinding*> bindings;
    bool is_any_number = false;
  };
  using Parts = std::vector<std::string_view>;
  // Absent from `found`: nothing. Null in it: several.
  using Found = std::pair<bool, const plan::HttpBinding*>;

  void add(const plan::HttpBinding& binding);
  Parts split(std::string_view path, std::string_view* verb) const;
  Found findIn(const Node& node, const Parts& parts, size_t at, const std::string& key) const;
  Found findBehind(const Node& node, std::string_view child, const Parts& parts, size_t at,
                   const std::string& key) const;
  static Found bindingOf(const Node& node, const std::string& key);
  void bindPath(const plan::HttpBinding& binding, const Parts& parts,
                std::vector<BoundText>* bound) const;
  void bindQuery(std::string_view query, std::vector<BoundText>* bound) const;

  const plan::GrpcJsonTranscoder& plan_;
  Node root_;
  std::unordered_set<std::string_view> verbs_;
  std::unordered_set<std::string_view> ignored_;
};

// Percent-decoded, all characters.
std::string decodePercents(std::string_view text);

}  // namespace fairlead::transcoder

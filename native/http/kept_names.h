// The names of one message's headers as whoever sent them wrote them. Immutable once collected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fairlead::http {

class KeptNames {
 public:
  // `capitalizes_others`: names that are not among them are written as "Content-Type".
  explicit KeptNames(bool capitalizes_others) : capitalizes_others_(capitalizes_others) {}

  // Of the lines of a head before anything of it is changed, as far as it has come. A name that is
  // known, in whatever case, stays as it was.
  void collect(std::string_view head);
  // The same length, in their case.
  void restore(char* name, size_t size) const;

  // What stands behind the status; empty: the usual.
  std::string reason;

 private:
  void add(std::string_view name);
  const std::string* find(std::string_view name) const;

  std::vector<std::string> names_;
  // What has come of a name whose rest has not: whoever scans may make it lower case meanwhile.
  std::string begun_;
  const bool capitalizes_others_;
};

// "content-type" as "Content-Type".
void capitalizeWords(char* name, size_t size);

}  // namespace fairlead::http

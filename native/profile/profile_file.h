// A CPU profile in the file that gperftools makes of one, and `go tool pprof` reads: how often
// which stack was seen, and what of the process is mapped where. Whoever samples owns it; one
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace fairlead::profile {

class ProfileFile {
 public:
  // Frames as walkStack() has them, inner first.
  void add(std::span<const uintptr_t> addresses);
  // errno of what the system refuses; 0: it is there.
  int write(const std::string& path, uint64_t period_us) const;

 private:
  std::map<std::vector<uintptr_t>, uint64_t> stacks_;
};

}  // namespace fairlead::profile

// Where entries go that workers have gathered for a service. Any thread; outlives whoever gathers.
#pragma once

#include <cstdint>
#include <string>

namespace fairlead::access_log {

class EntrySink {
 public:
  virtual ~EntrySink() = default;
  // `service`: its number in the plan. `entries`: as their encoder wrote them, one after the other.
  // False: there is no room for them, and they are lost.
  virtual bool onEntries(uint32_t service, uint64_t count, std::string entries) = 0;
};

}  // namespace fairlead::access_log

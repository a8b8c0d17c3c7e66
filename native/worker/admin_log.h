// The access logs of the admin server, whose requests the control plane answers and tells of. The
// control thread's.
#pragma once

#include <memory>
#include <vector>

#include "access_log/access_log.h"
#include "base/random.h"
#include "plan/plan.gen.h"

namespace fairlead::worker {

class AdminLog {
 public:
  using Logs = std::vector<std::shared_ptr<access_log::AccessLog>>;

  void use(Logs logs) { logs_ = std::move(logs); }
  void write(const plan::AdminRequest& request);

 private:
  Logs logs_;
  Random random_;
};

}  // namespace fairlead::worker

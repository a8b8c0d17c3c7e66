// key_log: the secrets of connections between some addresses go to a file, for who looks at their
// bytes. Immutable; shared by all workers.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log_files/log_files.h"
#include "net/address.h"
#include "plan/plan.gen.h"

namespace fairlead::tls {

class KeyLog {
 public:
  static Result<std::shared_ptr<const KeyLog>> open(const plan::TlsKeyLog& plan,
                                                    log_files::LogFiles& files);

  // The worker's thread: a line of the connection with that socket.
  void write(unsigned worker, int fd, std::string_view line) const;

 private:
  bool takes(int fd) const;

  // Empty: any address.
  std::vector<net::Cidr> local_;
  std::vector<net::Cidr> remote_;
  std::shared_ptr<log_files::LogFile> file_;
};

}  // namespace fairlead::tls

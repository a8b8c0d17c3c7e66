// The access logs of one listener on one worker.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "access_log/access_log.h"
#include "base/random.h"
#include "net/downstream_connection.h"

namespace fairlead::worker {

class ListenerLog final : public net::ConnectionLog {
 public:
  using Logs = std::vector<std::shared_ptr<access_log::AccessLog>>;

  ListenerLog(Logs logs, size_t worker, Random& random)
      : logs_(std::move(logs)), worker_(worker), random_(random) {}

  // net::ConnectionLog
  void onEnded(const net::DownstreamConnection& connection) override;
  void onUnmatched(const net::AcceptedSocket& socket) override;
  void onUnfinished(const net::AcceptedSocket& socket) override;

 private:
  void writeSocket(const net::AcceptedSocket& socket, format::FormatContext* context);
  void write(const format::FormatContext& context);

  const Logs logs_;
  const size_t worker_;
  Random& random_;
};

}  // namespace fairlead::worker

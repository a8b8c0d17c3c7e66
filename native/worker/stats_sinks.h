// The sinks that statistics are sent to: lines leave here as datagrams; all else is handed to the
// control plane. The control thread's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/datagram_sender.h"
#include "plan/plan.gen.h"
#include "stats/sink_flush.h"

namespace fairlead::worker {

class StatsSinks {
 public:
  static Result<std::unique_ptr<StatsSinks>> build(const std::vector<plan::SinkFormat>& plans,
                                                   stats::Registry* registry);

  // Begins a flush; what another one had left is not sent.
  void open(int64_t now_ms);
  // The next piece of the flush, by sink; empty for those that send it themselves. False: it was
  // the last, and the flush is over.
  bool next(std::vector<std::string>* pieces);
  // Single values of histograms since the last call, as next() gives them. False: none is left.
  bool takeSamples(std::vector<std::string>* pieces);

 private:
  explicit StatsSinks(stats::Registry* registry) : registry_(registry) {}
  struct Sender {
    net::DatagramSender datagrams;
    size_t max_bytes;
  };
  // `keeps_lines_apart`: each line has a datagram of its own.
  void send(std::vector<std::string>* pieces, bool keeps_lines_apart);

  stats::Registry* const registry_;
  std::vector<stats::SinkFormat> formats_;
  // By sink.
  std::vector<std::optional<Sender>> senders_;
  std::optional<stats::SinkFlush> flush_;
  // Where lines are sent over connections; null: nowhere.
  std::shared_ptr<stats::Block<stats::Statsd>> statsd_stats_;
};

}  // namespace fairlead::worker

#include "worker/stats_sinks.h"

#include <utility>

namespace fairlead::worker {

namespace {

// So many values of each thread are made into lines at once: some milliseconds.
constexpr size_t kSamplesAtOnce = 4096;

stats::SinkFormat formatOf(const plan::SinkFormat& plan) {
  stats::SinkFormat format;
  format.kind = static_cast<stats::SinkFormat::Kind>(plan.kind);
  format.prefix = plan.prefix;
  format.deltas = plan.deltas;
  format.labels = plan.labels;
  format.whole_names = plan.whole_names;
  format.totals = plan.totals;
  format.summaries = plan.summaries;
  format.histograms = plan.histograms;
  return format;
}

}  // namespace

Result<std::unique_ptr<StatsSinks>> StatsSinks::build(const std::vector<plan::SinkFormat>& plans,
                                                      stats::Registry* registry) {
  std::unique_ptr<StatsSinks> sinks(new StatsSinks(registry));
  if (!plans.empty()) registry->keepEnded();
  for (const plan::SinkFormat& plan : plans) {
    sinks->formats_.push_back(formatOf(plan));
    std::optional<Sender>& sender = sinks->senders_.emplace_back();
    if (!plan.datagrams) {
      if (plan.kind == plan::SinkFormat::Kind::Statsd) {
        sinks->statsd_stats_ = registry->create<stats::Statsd>(stats::plainScope("statsd."));
      }
      continue;
    }
    const auto target = plan.datagrams->address.value_or(plan::Address());
    Result<net::DatagramSender> opened = net::DatagramSender::open(net::Address::fromPlan(target));
    if (!opened) return opened.error();
    sender.emplace(Sender{std::move(opened.value()), plan.datagrams->max_bytes});
  }
  return sinks;
}

void StatsSinks::open(int64_t now_ms) { flush_.emplace(*registry_, formats_, now_ms); }

bool StatsSinks::next(std::vector<std::string>* pieces) {
  pieces->assign(formats_.size(), {});
  if (!flush_) return false;
  const bool more = flush_->next(pieces);
  if (!more) flush_.reset();
  send(pieces, false);
  return more;
}

bool StatsSinks::takeSamples(std::vector<std::string>* pieces) {
  pieces->assign(formats_.size(), {});
  const bool more = stats::takeSamples(registry_, formats_, kSamplesAtOnce, pieces);
  send(pieces, true);
  return more;
}

void StatsSinks::send(std::vector<std::string>* pieces, bool keeps_lines_apart) {
  for (size_t i = 0; i < senders_.size(); ++i) {
    std::optional<Sender>& sender = senders_[i];
    if (!sender) continue;
    sender->datagrams.send((*pieces)[i], keeps_lines_apart ? 0 : sender->max_bytes);
    (*pieces)[i].clear();
  }
}

}  // namespace fairlead::worker

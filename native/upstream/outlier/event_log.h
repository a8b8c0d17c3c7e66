// What becomes of hosts as lines of JSON, as the real server writes them
// (data.cluster.v3.OutlierDetectionEvent). The control thread's.
#pragma once

#include <memory>
#include <string>

#include "log_files/log_file.h"
#include "upstream/outlier/detector.h"

namespace fairlead::upstream {

class OutlierEventLog final : public OutlierListener {
 public:
  // Null: nothing is written.
  void use(std::shared_ptr<log_files::LogFile> file) { file_ = std::move(file); }

  void onEjected(std::string_view cluster, const Host& host, OutlierKind kind, bool is_enforced,
                 const SuccessRates& rates, uint64_t now_ms) override;
  void onUnejected(std::string_view cluster, const Host& host, uint64_t now_ms) override;

 private:
  void write(std::string_view line);

  std::shared_ptr<log_files::LogFile> file_;
};

// The lines, without their ends. `wall_ms`: since 1970; `now_ms`: of the detector's clock.
std::string ejectionLine(std::string_view cluster, const Host& host, OutlierKind kind,
                         bool is_enforced, const SuccessRates& rates, uint64_t now_ms,
                         uint64_t wall_ms);
std::string unejectionLine(std::string_view cluster, const Host& host, uint64_t now_ms,
                           uint64_t wall_ms);

}  // namespace fairlead::upstream

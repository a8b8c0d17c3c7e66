// What a copy needs besides where its tries pass filters, or are logged. Kept by it from use to
// use; the worker's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/filter_list.h"
#include "proxy/http_server.h"
#include "proxy/stream_info.h"
#include "proxy/try_filters.h"
#include "proxy/try_logs.h"

namespace fairlead::proxy {

struct MirrorTries {
  explicit MirrorTries(TryOwner& owner) : filters(owner), logs(info) {}

  // Its request's may be gone before it.
  std::optional<HttpServer> server;
  // No client's, and of no route.
  StreamInfo info;
  TryFilters filters;
  TryLogs logs;
  // Null: it passes none.
  const FilterList* list = nullptr;
  bool is_logged = false;
  // What waits for its host is more than may.
  bool is_behind = false;
  // By filters.
  uint32_t pauses = 0;
  // As of a connection of its own.
  std::vector<std::pair<uint64_t, std::shared_ptr<void>>> kept;
};

}  // namespace fairlead::proxy

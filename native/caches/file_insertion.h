// An answer on its way into a file: what comes waits, bounded, until a thread has written what came
// before. The worker's thread has this; what the threads need of it is shared and outlives it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "caches/file_cache.h"

namespace fairlead::caches {

class FileInsertion final : public Insertion {
 public:
  FileInsertion(std::shared_ptr<FileCache> cache, std::string key, std::shared_ptr<Entry> head,
                const Place& place, TicketRef ticket);
  ~FileInsertion() override;

  void append(std::string_view data) override;
  void commit(const http::HeaderMap* trailers) override;
  bool isBehind() const override;

 private:
  class Job;

  const std::shared_ptr<Job> job_;
};

}  // namespace fairlead::caches

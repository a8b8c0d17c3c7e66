#include "tls/key_log.h"

#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <utility>

namespace fairlead::tls {

namespace {

using GetName = int (*)(int, sockaddr*, socklen_t*);

bool contains(const std::vector<net::Cidr>& ranges, GetName get_name, int fd) {
  if (ranges.empty()) return true;
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  auto* raw = reinterpret_cast<sockaddr*>(&storage);
  if (get_name(fd, raw, &size) != 0) return false;
  const net::Address address = net::Address::fromKernel(raw, size);
  return std::any_of(ranges.begin(), ranges.end(),
                     [&address](const net::Cidr& range) { return range.contains(address); });
}

}  // namespace

Result<std::shared_ptr<const KeyLog>> KeyLog::open(const plan::TlsKeyLog& plan,
                                                   log_files::LogFiles& files) {
  auto log = std::make_shared<KeyLog>();
  for (const plan::CidrRange& range : plan.local) log->local_.emplace_back(range);
  for (const plan::CidrRange& range : plan.remote) log->remote_.emplace_back(range);
  auto file = files.open(plan.path);
  if (!file) return file.error();
  log->file_ = std::move(file.value());
  return std::shared_ptr<const KeyLog>(std::move(log));
}

bool KeyLog::takes(int fd) const {
  return contains(local_, ::getsockname, fd) && contains(remote_, ::getpeername, fd);
}

void KeyLog::write(unsigned worker, int fd, std::string_view line) const {
  if (!takes(fd)) return;
  file_->lane(worker)->append(line).append(1, '\n');
  file_->lineDone(worker);
}

}  // namespace fairlead::tls

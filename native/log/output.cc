#include "log/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/append_file.h"
#include "base/line_lock.h"

namespace fairlead::log {

void Output::use(std::string path, int fd) {
  if (!path_.empty()) ::close(fd_);
  path_ = std::move(path);
  fd_ = path_.empty() ? STDERR_FILENO : fd;
  may_block_ = mayBlock(fd_);
}

std::string Output::reopen() {
  if (path_.empty()) return {};
  const int fd = openForAppending(path_);
  if (fd < 0) return std::strerror(errno);
  use(path_, fd);
  return {};
}

size_t Output::write(std::string_view text) {
  LineGuard lines(log_lines);
  while (!text.empty()) {
    const std::string_view piece = may_block_ ? pieceForPipe(text) : text;
    if (may_block_ && !waitUntilWritable()) return text.size();
    if (may_block_) lines.begin(piece);
    const ssize_t written = ::write(fd_, piece.data(), piece.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return text.size();
    lines.wrote(text.substr(0, static_cast<size_t>(written)));
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

bool Output::waitUntilWritable() const {
  pollfd poll = {fd_, POLLOUT, 0};
  for (;;) {
    const int ready = ::poll(&poll, 1, -1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace fairlead::log

#include "base/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace fairlead {

int openForAppending(const std::string& path) {
  constexpr int kFlags = O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  constexpr int kMode = 0644;
  int fd = ::open(path.c_str(), kFlags | O_WRONLY, kMode);
  // A named pipe that nobody reads yet: whoever could read it himself may open it.
  if (fd < 0 && errno == ENXIO) fd = ::open(path.c_str(), kFlags | O_RDWR, kMode);
  const int error = errno;
  // A socket or a closed terminal behind the name cannot be opened again, but can be shared.
  int standard = -1;
  if (path == "/dev/stdout") standard = STDOUT_FILENO;
  if (path == "/dev/stderr") standard = STDERR_FILENO;
  if (fd < 0 && standard >= 0) fd = ::fcntl(standard, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) errno = error;
  return fd;
}

bool mayBlock(int fd) {
  struct stat status;
  return ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode);
}

std::string_view pieceForPipe(std::string_view text) {
  if (text.size() <= PIPE_BUF) return text;
  const size_t line_end = text.rfind('\n', PIPE_BUF - 1);
  return text.substr(0, line_end == std::string_view::npos ? PIPE_BUF : line_end + 1);
}

}  // namespace fairlead

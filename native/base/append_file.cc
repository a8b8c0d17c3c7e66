#include "base/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

namespace fairlead {

namespace {

// The descriptor that the path names, or -1.
int standardDescriptor(std::string_view path) {
  struct Name {
    std::string_view path;
    int descriptor;
  };
  constexpr std::array<Name, 6> kNames = {{{"/dev/stdout", STDOUT_FILENO},
                                           {"/dev/fd/1", STDOUT_FILENO},
                                           {"/proc/self/fd/1", STDOUT_FILENO},
                                           {"/dev/stderr", STDERR_FILENO},
                                           {"/dev/fd/2", STDERR_FILENO},
                                           {"/proc/self/fd/2", STDERR_FILENO}}};
  for (const Name& name : kNames) {
    if (path == name.path) return name.descriptor;
  }
  return -1;
}

bool isRegularFile(int fd) {
  struct stat status;
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

int duplicate(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }

}  // namespace

int openForAppending(const std::string& path) {
  constexpr int kFlags = O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  constexpr int kMode = 0644;
  const int standard = standardDescriptor(path);
  // Whoever else writes to the descriptor has its offset: opened anew the file would have another
  // one, and each would write over the other's lines.
  if (standard >= 0 && isRegularFile(standard)) return duplicate(standard);
  int fd = ::open(path.c_str(), kFlags | O_WRONLY, kMode);
  // A named pipe that nobody reads yet: whoever could read it himself may open it.
  if (fd < 0 && errno == ENXIO) fd = ::open(path.c_str(), kFlags | O_RDWR, kMode);
  const int error = errno;
  // A socket or a closed terminal behind the name cannot be opened again, but can be shared.
  if (fd < 0 && standard >= 0) fd = duplicate(standard);
  if (fd < 0) errno = error;
  return fd;
}

bool mayBlock(int fd) { return !isRegularFile(fd); }

std::string_view pieceForPipe(std::string_view text) {
  if (text.size() <= PIPE_BUF) return text;
  const size_t line_end = text.rfind('\n', PIPE_BUF - 1);
  return text.substr(0, line_end == std::string_view::npos ? PIPE_BUF : line_end + 1);
}

}  // namespace fairlead

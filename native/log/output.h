// Where lines go: standard error, or a file. The sink's thread's, but for open().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::log {

class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Takes the descriptor of openForAppending(path). An empty path: standard error.
  void use(std::string path, int fd);
  // Opens the path again, as after a rotation. Why not, or nothing: then the open file stays in
  // use.
  std::string reopen();
  // Whole lines, at once where the file allows. Waits as long as nobody takes them. How many bytes
  // could not be written, which is none, or those from an error on: errno.
  size_t write(std::string_view text);

 private:
  bool waitUntilWritable() const;

  std::string path_;
  int fd_ = 2;
  bool may_block_ = true;
};

}  // namespace fairlead::log

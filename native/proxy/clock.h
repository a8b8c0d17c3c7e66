// The date header's text, made once a second. One worker's; the worker's thread.
#pragma once

#include <ctime>
#include <string_view>

namespace fairlead::proxy {

class Clock {
 public:
  // "Sat, 21 Nov 2026 06:13:00 GMT"; stays until the next call.
  std::string_view date() {
    timespec now;
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != second_) {
      second_ = now.tv_sec;
      std::tm utc;
      ::gmtime_r(&second_, &utc);
      size_ = std::strftime(text_, sizeof(text_), "%a, %d %b %Y %H:%M:%S GMT", &utc);
    }
    return {text_, size_};
  }

 private:
  std::time_t second_ = 0;
  size_t size_ = 0;
  char text_[64];
};

}  // namespace fairlead::proxy

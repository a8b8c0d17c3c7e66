// Files that lines are appended to, perhaps by several processes at once, and that may be pipes
// which nobody reads.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

// A descriptor, or -1 with errno. Never waits: neither for a reader of a pipe, nor later for room
// in it.
int openForAppending(const std::string& path);

// Whether a write may wait: everything but a regular file.
bool mayBlock(int fd);

// What one write to a pipe takes whole, so that lines of other writers do not come between; it ends
// with a line if one ends in it.
std::string_view pieceForPipe(std::string_view text);

}  // namespace fairlead

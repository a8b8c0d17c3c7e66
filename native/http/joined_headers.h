// Headers that the real server keeps in one line: values of lines that repeat a name, and a value
// that is added, join the one that is there by a comma. Others keep lines of their own. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/arena.h"
#include "http/message.h"

namespace fairlead::http {

bool isJoinedInRequests(HeaderId id);
bool isJoinedInResponses(HeaderId id);

// From here on these are kept in one line, too (inline_headers); in lower case. Before there is any
// thread that reads heads.
void joinToo(const std::vector<std::string>& request, const std::vector<std::string>& response);

// Some of them are not known to the proxy: whether they repeat each other shows in no head by
// itself.
inline bool joins_unknown = false;

// Makes one line, where the first one was, of lines that repeat each other; empty values leave
// nothing behind. What frames a body, and the host, are left as they were sent: they are judged
// line by line. Joined values live in the arena.
void joinRequestLines(HeaderMap& headers, Arena& arena);
void joinResponseLines(HeaderMap& headers, Arena& arena);

}  // namespace fairlead::http

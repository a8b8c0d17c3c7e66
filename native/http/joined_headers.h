// Headers that the real server keeps in one line: values of lines that repeat a name, and a value
// that is added, join the one that is there by a comma. Others keep lines of their own. Pure.
#pragma once

#include "base/arena.h"
#include "http/message.h"

namespace fairlead::http {

bool isJoinedInRequests(HeaderId id);
bool isJoinedInResponses(HeaderId id);

// Makes one line, where the first one was, of lines that repeat each other; empty values leave
// nothing behind. What frames a body, and the host, are left as they were sent: they are judged
// line by line. Joined values live in the arena.
void joinRequestLines(HeaderMap& headers, Arena& arena);
void joinResponseLines(HeaderMap& headers, Arena& arena);

}  // namespace fairlead::http

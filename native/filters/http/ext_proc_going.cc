// What an external processor lets go on.
#include <utility>

#include "filters/http/ext_proc_filter.h"

namespace fairlead::filters {

ExtProc::Going ExtProc::giveHead(ProcessedMessage& message, bool ends) {
  if (!std::exchange(message.is_head_held, false)) return Going::On;
  message.has_ended = ends;
  return give([&] {
    if (message.is_request) {
      ends ? place_.continueRequest() : place_.continueRequestHead();
    } else {
      ends ? place_.continueResponse() : place_.continueResponseHead();
    }
  });
}

// `bytes` are this call's: the filter may end with them.
ExtProc::Going ExtProc::giveData(ProcessedMessage& message, std::string bytes, bool end) {
  if (giveHead(message, false) == Going::Gone) return Going::Gone;
  if (bytes.empty() && !end) return Going::On;
  if (end) message.has_ended = true;
  return give([&] {
    if (message.is_request) {
      place_.injectRequestData(bytes, end);
    } else {
      place_.injectResponseData(bytes, end);
    }
  });
}

ExtProc::Going ExtProc::giveTrailers(ProcessedMessage& message) {
  message.has_ended = true;
  gives_trailers_of_ = &message;
  const Going going = give([&] {
    if (message.is_request) {
      place_.injectRequestTrailers();
    } else {
      place_.injectResponseTrailers();
    }
  });
  if (going == Going::On) gives_trailers_of_ = nullptr;
  return going;
}

// All that does not wait for an answer. `may_end`: what has come of the message is all of it.
ExtProc::Going ExtProc::goOn(ProcessedMessage& message, bool may_end) {
  const bool ends = message.is_complete && !message.has_trailers && !message.has_ended &&
                    message.pieces.empty() && may_end;
  if (giveHead(message, ends && message.has_no_body && message.held.empty()) == Going::Gone) {
    return Going::Gone;
  }
  if (!message.held.empty()) {
    if (giveData(message, std::exchange(message.held, {}), ends) == Going::Gone) {
      return Going::Gone;
    }
  } else if (ends && !message.has_ended) {
    if (giveData(message, {}, true) == Going::Gone) return Going::Gone;
  }
  if (!message.has_trailers || message.has_ended || !message.pieces.empty() || !may_end) {
    return Going::On;
  }
  return giveTrailers(message);
}

}  // namespace fairlead::filters

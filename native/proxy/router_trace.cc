// A router's tries as spans. Asked only where the request has a trace.
#include "proxy/downstream.h"
#include "proxy/router.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

void Router::traceTry(Attempt& attempt) {
  tracing::RequestTrace& trace = *info_.trace;
  Arena& arena = info_.context().arena;
  format::FormatContext format;
  info_.fill(&format);
  trace.beginTry(&attempt, info_.cluster->cluster().observabilityName(), info_.attempts,
                 loop().nowMicros(), &format, arena, info_.context().upstream.random);
}

void Router::tellTrace(Attempt& attempt, std::string_view path, http::HeaderMap& headers) {
  info_.trace->tellHost(&attempt, headers, path, attempt.host().address().text(),
                        loop().nowMicros(), info_.context().arena);
}

void Router::endTryTrace(Attempt& attempt) {
  if (!info_.trace->hasTry(&attempt)) {
    info_.trace->onAnswerEnded(loop().nowMicros());
    return;
  }
  format::FormatContext format;
  info_.fillAnswer(&format);
  tracing::Facts facts = info_.traceFacts(format);
  format.upstream_host = &attempt.host().address();
  facts.host = attempt.host().settings().tag_metadata.get();
  info_.trace->endTry(&attempt, facts);
}

void Router::cancelTryTrace(Attempt& attempt) {
  info_.trace->onTryCanceled(&attempt);
  endTryTrace(attempt);
}

void Router::cancelTraces() {
  info_.trace->forEachTry([this](const void* who) {
    // Only tries of this router are begun.
    cancelTryTrace(*static_cast<Attempt*>(const_cast<void*>(who)));
  });
}

}  // namespace fairlead::proxy

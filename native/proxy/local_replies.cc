#include "proxy/local_replies.h"

#include <utility>

#include "http/joined_headers.h"

namespace fairlead::proxy {

Result<std::shared_ptr<const LocalReplies>> LocalReplies::build(const plan::LocalReplies& plan,
                                                                RuntimeSlots* slots) {
  auto replies = std::make_shared<LocalReplies>();
  bool reads = false;
  const auto body = [&reads](const Boxed<plan::ReplyFormat>& format) {
    auto made = format ? std::make_unique<const ReplyBody>(*format) : nullptr;
    reads |= made && made->readsRequestHead();
    return made;
  };
  replies->format_ = body(plan.format);
  for (const plan::ReplyMapper& from : plan.mappers) {
    Mapper mapper;
    if (from.filter) {
      Result<access_log::Filter> filter = access_log::Filter::build(*from.filter, slots);
      if (!filter) return filter.error();
      mapper.filter = std::move(filter.value());
      reads |= mapper.filter->readsRequestHead();
    }
    if (from.status) mapper.status = static_cast<uint16_t>(*from.status);
    mapper.body = from.body;
    mapper.format = body(from.format);
    for (const plan::HeaderAddition& addition : from.headers) {
      reads |= addition.value && format::Format(*addition.value).readsRequestHead();
    }
    mapper.headers = route::MutationList({}, from.headers, http::isJoinedInResponses);
    replies->mappers_.push_back(std::move(mapper));
  }
  replies->reads_request_head_ = reads;
  return std::shared_ptr<const LocalReplies>(std::move(replies));
}

void LocalReplies::rewrite(format::FormatContext& context, uint64_t random,
                           http::HeaderMap& headers, Arena& arena, Reply* reply) const {
  const ReplyBody* body = format_.get();
  context.status = reply->status;
  for (const Mapper& mapper : mappers_) {
    if (!mapper.filter || !mapper.filter->accepts(context, random)) continue;
    if (mapper.body) reply->body = *mapper.body;
    mapper.headers.apply(headers, context, arena);
    if (mapper.status) context.status = reply->status = *mapper.status;
    if (mapper.format) body = mapper.format.get();
    break;
  }
  if (!body) return;
  context.local_reply_body = reply->body;
  body->write(context, &reply->body);
  context.local_reply_body = {};
  reply->content_type = body->contentType();
}

}  // namespace fairlead::proxy

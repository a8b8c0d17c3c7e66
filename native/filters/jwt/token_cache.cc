#include "filters/jwt/token_cache.h"

namespace fairlead::filters {

std::shared_ptr<const KeptToken> JwtTokenCache::find(std::string_view text, uint64_t now_s) {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  const Order::iterator at = found->second;
  if ((*at)->token.checkTime(now_s, kSkewSeconds) == JwtStatus::Expired) {
    by_text_.erase(found);
    order_.erase(at);
    return nullptr;
  }
  order_.splice(order_.begin(), order_, at);
  return *at;
}

void JwtTokenCache::keep(std::string_view text) {
  if (max_tokens_ == 0 || text.size() > max_bytes_ || by_text_.contains(text)) return;
  auto kept = std::make_shared<KeptToken>();
  kept->text = text;
  if (JwtToken::parse(kept->text, kept->arena, &kept->token) != JwtStatus::Ok) return;
  order_.push_front(std::move(kept));
  by_text_.emplace(order_.front()->text, order_.begin());
  if (order_.size() <= max_tokens_) return;
  by_text_.erase(order_.back()->text);
  order_.pop_back();
}

}  // namespace fairlead::filters

// The filters that one request passes on its way to the router, or one try of it on its way to a
// host, and the answer on the way back. Part of its owner, and used again. The worker's thread.
//
// Always holds:
// - What a filter stopped of a message is held with that filter, and whatever of the message comes
//   later passes the filters before it, then it: nothing overtakes.
// - Whatever is given to the owner may end it: life_ says so to those that go on afterwards.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "filters/http/http_filter.h"
#include "proxy/chain_owner.h"
#include "proxy/held_message.h"

namespace fairlead::proxy {

class FilterChain {
 public:
  explicit FilterChain(ChainOwner& owner) : owner_(owner) {}
  FilterChain(const FilterChain&) = delete;
  FilterChain& operator=(const FilterChain&) = delete;
  ~FilterChain() { end(); }

  // Those of `set` that are on; it lives until the end. `settings`: the route's; null: there is
  // none. False: there is nothing to pass.
  bool start(const FilterSet& set, const route::FilterSettings* settings);
  // The same of a try.
  bool start(const FilterSet& set, const route::TryFilterSettings* settings);
  // Filters end: nothing comes to them, or from them. What they have said of the request lives on,
  // for logs and spans.
  void stop();
  // As new, once filters have ended.
  void end();
  const filters::FilterNotes& notes() const { return *notes_; }
  // Of the bodies that wait with filters.
  size_t heldMemory() const;
  // Another one after each end.
  uint32_t life() const { return life_; }

  // Of a try: before it asks for a connection. False: a filter has answered in its place.
  bool onHostChosen(const http::RequestHead& head);
  // In order. What comes through goes to the owner's forward…().
  void onRequestHead(http::RequestHead& head, bool end);
  void onRequestData(std::string_view data, bool end) {
    if (!isOver(Side::Request)) passData(Side::Request, 0, data, end);
  }
  void onRequestTrailers(http::HeaderMap& trailers) {
    if (!isOver(Side::Request)) passTrailers(Side::Request, 0, trailers);
  }
  void onRequestForwarded(const http::RequestHead& head);
  // It is answered: filters see no more of it.
  void dropRequest() { drop(Side::Request); }

  // In the opposite order. What comes through goes to the owner's write…().
  void onResponseHead(uint16_t status, http::HeaderMap& headers, bool end);
  void onResponseData(std::string_view data, bool end) {
    passData(Side::Response, first(Side::Response), data, end);
  }
  void onResponseTrailers(http::HeaderMap& trailers) {
    passTrailers(Side::Response, first(Side::Response), trailers);
  }
  void onResponseSent(uint16_t status, const http::HeaderMap& headers);
  // The client takes more of an answer.
  void onAnswerWritable() {
    if (answering_) answering_->filter->onAnswerWritable();
  }
  // Another answer takes the place of the one that filters hold, and passes none of them.
  void dropResponse() { drop(Side::Response); }

 private:
  enum class Side : uint8_t { Request, Response };
  // Of either side.
  struct Head {
    http::RequestHead* request;
    http::HeaderMap* headers;
    uint16_t status;
    bool end;
  };

  // A filter in its place.
  class Link final : public filters::FilterPlace {
   public:
    Link(FilterChain& of, size_t place, size_t of_chain, route::FilterConfigList configs)
        : chain(of), index(place), config(of_chain), route_configs(configs) {}

    route::FilterConfigList routeConfigs() const override { return route_configs; }
    net::Loop& loop() override;
    std::string_view clusterName() const override;
    void describe(format::FormatContext* context) const override;
    tracing::RequestTrace* trace() const override;
    bool hasClient() const override;
    const net::Address& peer() const override;
    std::shared_ptr<void>& keptByConnection(uint64_t number) override;
    uint32_t bufferLimit() const override { return chain.limits_[1]; }
    uint32_t requestBufferLimit() const override { return chain.limits_[0]; }
    void limitRequestBuffer(uint32_t bytes) override {
      chain.limitRequest(bytes);
      has_limit = true;
    }
    void clearRoute() override { chain.is_route_cleared_ = chain.owner_.mayRouteAgain(); }
    void insert(
        std::span<const std::shared_ptr<const filters::HttpFilterConfig>> filters) override {
      chain.insert(*this, filters);
    }
    void restartRequest() override { chain.restart(*this); }
    void continueRequest() override { chain.goOn(Side::Request, *this); }
    void continueResponse() override { chain.goOn(Side::Response, *this); }
    void continueRequestHead() override { chain.goOnWithHead(Side::Request, *this); }
    void continueResponseHead() override { chain.goOnWithHead(Side::Response, *this); }
    void editRequestHead(filters::HeadEditor& editor) override {
      chain.editHead(Side::Request, *this, editor);
    }
    void editResponseHead(filters::HeadEditor& editor) override {
      chain.editHead(Side::Response, *this, editor);
    }
    filters::HeadLimits requestLimits() const override { return chain.limitsOf(Side::Request); }
    filters::HeadLimits responseLimits() const override { return chain.limitsOf(Side::Response); }
    void injectRequestData(std::string_view data, bool end) override {
      chain.inject(Side::Request, *this, data, end);
    }
    void injectResponseData(std::string_view data, bool end) override {
      chain.inject(Side::Response, *this, data, end);
    }
    void injectRequestTrailers() override { chain.injectTrailers(Side::Request, *this); }
    void injectResponseTrailers() override { chain.injectTrailers(Side::Response, *this); }
    void answer(const filters::LocalReply& reply) override;
    void answerInstead(const filters::LocalReply& reply) override;
    bool beginAnswer(const filters::AnswerHead& head, bool end) override {
      return chain.beginAnswer(*this, head, end);
    }
    bool giveAnswerData(std::string_view data, bool end) override {
      return chain.giveAnswer(*this, [&] { chain.onResponseData(data, end); });
    }
    bool giveAnswerTrailers(http::HeaderMap& trailers) override {
      return chain.giveAnswer(*this, [&] { chain.onResponseTrailers(trailers); });
    }
    filters::OtherRequest::Outcome requestInstead(const filters::OtherRequest& other) override;
    std::shared_ptr<const void> memo() const override;
    void breakAnswer(const filters::LocalReply& reply) override;
    bool isAnswerBehind() const override;
    void pauseRequest() override;
    void resumeRequest() override;
    void pauseResponse() override;
    void resumeResponse() override;

    bool holds(Side side) const { return held[static_cast<size_t>(side)] != nullptr; }

    FilterChain& chain;
    size_t index;
    // Its filter's place in the set, or that of who put it here.
    const size_t config;
    route::FilterConfigList route_configs;
    filters::HttpFilter* filter = nullptr;
    // It has said how much of a request may wait.
    bool has_limit = false;
    // By side; null: nothing is held.
    HeldMessage* held[2] = {};
  };

  void prepare(const FilterSet& set);
  template <typename ConfigsOf>
  void makeLinks(size_t first, ConfigsOf configs_of);
  static auto configsBy(const route::FilterSettings* settings) {
    return [settings](size_t i) {
      return settings ? settings->configsOf(static_cast<uint32_t>(i)) : route::FilterConfigList();
    };
  }
  void insert(const Link& behind,
              std::span<const std::shared_ptr<const filters::HttpFilterConfig>> filters);
  // `at`: how many filters the message has passed.
  void passHead(Side side, size_t at, const Head& head);
  void passData(Side side, size_t at, std::string_view data, bool end);
  void passTrailers(Side side, size_t at, http::HeaderMap& trailers);
  void passReplaced(Side side, Link& link, bool end);
  filters::FilterStatus tellHead(Side side, Link& link, const Head& head);
  void findRouteAgain(const Link& from, http::RequestHead& head);
  void remakeBehind(const Link& from);
  void holdHead(Side side, Link& link, const Head& head);
  void holdData(Side side, Link& link, std::string_view data, bool end, bool is_wanted_whole);
  static Excess excessOf(Side side) {
    return side == Side::Request ? Excess::Request : Excess::Answer;
  }
  void limitRequest(uint32_t bytes);
  HeldMessage& heldBy(Side side, Link& link);

  // Gives what a link holds to its successor, and then what `pass_rest` has.
  template <typename PassRest>
  void release(Side side, Link& link, bool has_rest, PassRest pass_rest);
  http::RequestHead& restored(Side side, const HeldMessage& held);
  // False: nothing more may be given.
  bool releaseHead(Side side, Link& link, bool end);
  bool releaseBody(Side side, Link& link, bool end);
  void letGo(Side side, Link& link) { letGo(side, link, &free_); }
  void letGo(Side side, Link& link, std::vector<std::unique_ptr<HeldMessage>>* into);
  void goOn(Side side, Link& link);
  void goOnWithHead(Side side, Link& link);
  void editHead(Side side, Link& link, filters::HeadEditor& editor);
  filters::HeadLimits limitsOf(Side side) const;
  void restart(Link& link);
  void inject(Side side, Link& link, std::string_view data, bool end);
  void injectTrailers(Side side, Link& link);
  // Answers that a filter gives in parts. False: nothing more may be given.
  bool beginAnswer(Link& link, const filters::AnswerHead& head, bool end);
  template <typename Give>
  bool giveAnswer(const Link& link, Give give) {
    if (answering_ != &link || isOver(Side::Response)) return false;
    const uint32_t life = life_;
    give();
    if (life != life_) return false;
    flush(Side::Response);
    return goesOn(Side::Response, life);
  }
  void drop(Side side);
  // As the configuration calls its filter.
  std::string_view nameOf(const Link& link) const;
  void flush(Side side);

  Link& linkAt(Side side, size_t at) {
    return side == Side::Request ? *links_[at] : *links_[count_ - 1 - at];
  }
  // How many links a message has passed that has passed this one.
  size_t after(Side side, const Link& link) const {
    return side == Side::Request ? link.index + 1 : count_ - link.index;
  }
  size_t first(Side side) const { return isOver(side) ? count_ : 0; }
  bool isOver(Side side) const { return over_[static_cast<size_t>(side)]; }
  bool goesOn(Side side, uint32_t life) const { return life == life_ && !isOver(side); }

  ChainOwner& owner_;
  FilterSet set_;
  filters::FilterMemory memory_;
  std::optional<filters::FilterNotes> notes_;
  std::optional<filters::FilterScope> scope_;
  std::vector<Link*> links_;
  size_t count_ = 0;
  // In use while a link points at it; kept from use to use.
  std::vector<std::unique_ptr<HeldMessage>> free_;
  // Dropped ones, of which some may be on their way: nobody else gets them before the end.
  std::vector<std::unique_ptr<HeldMessage>> dropped_;
  // Filters of the set, by their places.
  uint64_t on_ = 0;
  // Whose filter answers in parts; null: none does.
  Link* answering_ = nullptr;
  // Of bodies that wait, by side; 0: none.
  uint32_t limits_[2] = {};
  // By side: the message is no longer the filters'.
  bool over_[2] = {};
  // A filter has made another request of the one that it sees.
  bool is_route_cleared_ = false;
  bool is_stopped_ = false;
  // Of what a filter holds, by another filter's limit.
  bool is_request_too_large_ = false;
  // Of what follows on what a filter lets go.
  size_t last_piece_bytes_ = 0;
  uint32_t life_ = 0;
};

}  // namespace fairlead::proxy

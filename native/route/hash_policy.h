// What a request's hash is made of, by which balancers find its host again. Immutable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/regex.h"
#include "base/result.h"
#include "net/address.h"
#include "net/filter_state.h"
#include "plan/plan.gen.h"
#include "route/request_view.h"

namespace fairlead::route {

// The same for all ports of an address. Absent: it is no IP address.
std::optional<uint64_t> hashOfAddress(const net::Address& client);

// Of what is kept under that name with a request or else its connection; null: nothing is. Absent:
// it is not there, or may not be hashed.
std::optional<uint64_t> hashOfState(std::string_view name, const net::FilterState* request,
                                    const net::FilterState* connection);

// What hashes are made of.
struct HashSource {
  const RequestView& request;
  // As far as it can be trusted.
  const net::Address& client;
  // The ends of its connection, which a new cookie's value is made of.
  const net::Address& peer;
  const net::Address& local;
};

class HashPolicies {
 public:
  HashPolicies() = default;
  static Result<HashPolicies> build(const std::vector<plan::HashPolicy>& plans);

  bool empty() const { return policies_.empty(); }
  // Absent: the request has nothing of what is asked for. `cookies`: gets what the client is to be
  // told by set-cookie.
  std::optional<uint64_t> hash(const HashSource& source, std::vector<std::string>* cookies) const;

 private:
  struct Policy {
    enum class Kind : uint8_t { Header, Cookie, SourceIp, Query, State };

    Kind kind = Kind::SourceIp;
    bool is_terminal = false;
    // Of the header.
    HeaderName header;
    std::optional<Regex> regex;
    std::string substitution;
    // Of the parameter, or of what is kept with the request or its connection.
    std::string name;
    plan::CookieHash cookie;
  };

  static std::optional<uint64_t> hash(const Policy& policy, const HashSource& source,
                                      std::vector<std::string>* cookies);

  std::vector<Policy> policies_;
};

}  // namespace fairlead::route

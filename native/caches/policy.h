// What a shared cache may do (RFC 9111 §3, §4), as the real server has it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "caches/directives.h"
#include "caches/vary.h"
#include "http/message.h"

namespace fairlead::caches {

// Of a request without a body. Those that ask for something on a condition go to their host.
bool mayServe(const http::RequestHead& head, std::string_view scheme);

// Of an answer, whose directives those are.
bool mayStore(uint16_t status, const http::HeaderMap& headers, const ResponseDirectives& says,
              const VaryRules& vary);

// How old an answer is that was stored then (RFC 9111 §4.2.3), in seconds.
int64_t ageOf(const http::HeaderMap& stored, uint64_t stored_at_us, uint64_t now_us);

// Whether its host has to be asked before one that is as old is used.
bool needsValidation(const http::HeaderMap& stored, int64_t age_s,
                     const RequestDirectives& request);

// What a request of the host says, that it be answered by 304 where nothing has changed. Values
// live as long as `stored`.
void askForChange(const http::HeaderMap& stored, http::HeaderMap& request);

// Whether an answer of 304 speaks of what is stored.
bool isAboutStored(const http::HeaderMap& not_modified, const http::HeaderMap& stored);

// Of an answer of 304: what it says nothing of is as it was stored. Values live as long as
// `stored`.
void completeNotModified(const http::HeaderMap& stored, http::HeaderMap& not_modified);

// Of what is stored: what the answer says in its place (RFC 9111 §3.2). Values live as long as
// `fresh`.
void freshenStored(const http::HeaderMap& fresh, http::HeaderMap& stored);

// What speaks of one connection is not stored.
void removeConnectionHeaders(http::HeaderMap& headers);

// Of the address that a request names.
std::string keyOf(std::string_view scheme, std::string_view authority, std::string_view path);

}  // namespace fairlead::caches

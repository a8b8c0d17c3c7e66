// One piece of a substitution format, compiled: a literal, or an operator that knows where in the
// context its value is. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/context.h"
#include "format/exchange.h"
#include "format/grpc_status.h"
#include "format/header_name.h"
#include "format/live_text.h"
#include "format/time_format.h"
#include "plan/plan.gen.h"

namespace fairlead::format {

class Piece {
 public:
  explicit Piece(const plan::FormatPiece& plan);

  // The text of a literal; null for an operator.
  const std::string* literal() const { return kind_ == Kind::Literal ? &argument_ : nullptr; }
  // Whether its value stands as it is in JSON where values have types: a number, or an object.
  bool isJson(const FormatContext& context) const;
  bool readsRequestHead() const;
  bool readsResponseHead() const;
  // Appends the value, cut to its length. False: there is none.
  bool append(const FormatContext& context, std::string* out) const;
  // The same of a value that isJson(), which is never cut.
  bool appendJson(const FormatContext& context, std::string* out) const;

 private:
  enum class Kind : uint8_t {
    Absent,
    Literal,
    // Empty: no value.
    Text,
    // The same, with blanks as underscores unless an argument wants them.
    Details,
    // Known to the formats of local replies; to others it is there, and empty.
    LocalReplyBody,
    Number,
    Status,
    Attempts,
    // Milliseconds of a time that may not have come.
    Duration,
    ResponseTxDuration,
    Address,
    Ip,
    Port,
    RequestHeader,
    ResponseHeader,
    ResponseTrailer,
    RequestHeaderBytes,
    ResponseHeaderBytes,
    ResponseTrailerBytes,
    StartTime,
    Flags,
    LongFlags,
    MeteredBytes,
    Path,
    QueryParameter,
    GrpcStatus,
    UniqueId,
    Metadata,
    Tlv,
    FilterState,
    Tls,
    TlsStart,
    TlsEnd,
    EmitTime,
    // Between two moments.
    Between,
    // Milliseconds since the start.
    Moment,
    Handshake,
    Zero,
    RouteTime,
    RouteCount,
    ConnectionId,
    HostName,
    Tried,
    TriedIds,
    Close,
    EndpointId,
    RoundTrip,
    Query,
    Configured,
    Coalesce,
    ClientCertValue,
    LogType,
    WithoutQuery,
    ReplyOwner,
    ServerName,
    Live,
  };
  enum class Precision : uint8_t { Milliseconds, Microseconds, Nanoseconds };
  enum class PathSource : uint8_t { Original, Current, OriginalOrCurrent };
  struct Source;

  static const Source* sourceOf(plan::FormatPiece::Operator op);
  void parsePath(std::string_view argument);
  bool appendValue(const FormatContext& context, std::string* out) const;
  bool appendHeader(const FormatContext& context, std::string* out) const;
  bool appendTls(const FormatContext& context, std::string* out) const;
  bool appendAddress(const FormatContext& context, std::string* out) const;
  bool appendPath(const FormatContext& context, std::string* out) const;
  bool appendQueryParameter(const FormatContext& context, std::string* out) const;
  const FilterMetadata::Value* filterMetadata(const FormatContext& context) const;
  bool appendGrpcStatus(const FormatContext& context, std::string* out) const;

  // ---- piece_exchange.cc ----
  void parseDuration(std::string_view argument);
  bool appendBetween(const FormatContext& context, std::string* out) const;
  bool appendHostName(const FormatContext& context, std::string* out) const;
  bool appendTried(const FormatContext& context, std::string* out) const;
  bool appendTriedIds(const FormatContext& context, std::string* out) const;
  bool appendClose(const FormatContext& context, std::string* out) const;

  // ---- piece_metadata.cc ----
  const plan::MetadataValue* configured(const FormatContext& context) const;
  bool appendMetadata(const FormatContext& context, std::string* out) const;
  // Null: what there is of that name is no object.
  const net::StateObject* stateObject(const FormatContext& context) const;
  bool appendFilterState(const FormatContext& context, std::string* out) const;

  // ---- piece_request.cc ----
  bool appendNetwork(const net::Address& address, std::string* out) const;
  bool appendQuery(const FormatContext& context, std::string* out) const;
  bool appendClientCertValue(const FormatContext& context, std::string* out) const;
  bool appendServerName(const FormatContext& context, std::string* out) const;
  const Piece* chosen(const FormatContext& context) const;

  // How `key_` says what of the filter state is asked for; nothing: its text.
  static constexpr std::string_view kTypedState = "TYPED";
  static constexpr std::string_view kStateField = "FIELD:";

  Kind kind_ = Kind::Absent;
  PathSource path_source_ = PathSource::OriginalOrCurrent;
  bool with_query_ = true;
  GrpcStatusStyle grpc_style_ = GrpcStatusStyle::Camel;
  // Ports stand with names, texts are decoded, values are typed, empty ones are none: by kind.
  bool is_variant_ = false;
  TimePoint from_ = TimePoint::kCount;
  TimePoint to_ = TimePoint::kCount;
  Precision precision_ = Precision::Milliseconds;
  plan::FormatPiece::MetadataSource metadata_source_ = plan::FormatPiece::MetadataSource::Route;
  uint32_t max_length_ = UINT32_MAX;
  // Where the value is; which of them, the kind says.
  std::string_view FormatContext::* text_ = nullptr;
  uint64_t FormatContext::* number_ = nullptr;
  http::ByteMeter FormatContext::* meter_ = nullptr;
  uint64_t http::ByteMeter::* metered_ = nullptr;
  // In its place.
  uint32_t http::ByteMeter::* metered_lines_ = nullptr;
  CloseType FormatContext::* close_ = nullptr;
  const net::Address* FormatContext::* address_ = nullptr;
  const net::TlsInfo* FormatContext::* tls_ = nullptr;
  net::TlsValue tls_value_ = net::TlsValue::Version;
  // A literal, the name of a query parameter, a namespace, or a key.
  std::string argument_;
  // The keys within a namespace, with a NUL between each two.
  std::string key_;
  HeaderName header_;
  HeaderName alternative_;
  TimeFormat time_;
  std::optional<uint32_t> prefix_length_;
  std::vector<Piece> alternatives_;
  std::shared_ptr<const LiveText> live_;
};

}  // namespace fairlead::format

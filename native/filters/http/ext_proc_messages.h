// What the messages of external processors are like, as far as they go in JSON: parts by their
// names and numbers (envoy.service.ext_proc.v3). Plain data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fairlead::filters::processor_json {

enum class PartKind : uint8_t {
  Message,
  Text,
  Bytes,
  Flag,
  Number,
  Enum,
  Struct,
  Duration,
  // google.protobuf.BoolValue
  FlagBox,
};

struct PartName {
  std::string_view name;
  uint64_t number;
};

struct Part {
  std::string_view name;
  uint32_t number;
  PartKind kind;
  // Of a message, and of an enum.
  std::span<const Part> parts = {};
  std::span<const PartName> names = {};
  bool is_repeated = false;
  // By texts.
  bool is_map = false;
};

inline constexpr PartName kHeadModes[] = {{"DEFAULT", 0}, {"SEND", 1}, {"SKIP", 2}};
inline constexpr PartName kBodyModes[] = {{"NONE", 0},
                                          {"STREAMED", 1},
                                          {"BUFFERED", 2},
                                          {"BUFFERED_PARTIAL", 3},
                                          {"FULL_DUPLEX_STREAMED", 4},
                                          {"GRPC", 5}};
inline constexpr PartName kAppendActions[] = {{"APPEND_IF_EXISTS_OR_ADD", 0},
                                              {"ADD_IF_ABSENT", 1},
                                              {"OVERWRITE_IF_EXISTS_OR_ADD", 2},
                                              {"OVERWRITE_IF_EXISTS", 3}};
inline constexpr PartName kAnswerStatuses[] = {{"CONTINUE", 0}, {"CONTINUE_AND_REPLACE", 1}};
inline constexpr PartName kStatusCodes[] = {{"Empty", 0},
                                            {"Continue", 100},
                                            {"OK", 200},
                                            {"Created", 201},
                                            {"Accepted", 202},
                                            {"NonAuthoritativeInformation", 203},
                                            {"NoContent", 204},
                                            {"ResetContent", 205},
                                            {"PartialContent", 206},
                                            {"MultiStatus", 207},
                                            {"AlreadyReported", 208},
                                            {"IMUsed", 226},
                                            {"MultipleChoices", 300},
                                            {"MovedPermanently", 301},
                                            {"Found", 302},
                                            {"SeeOther", 303},
                                            {"NotModified", 304},
                                            {"UseProxy", 305},
                                            {"TemporaryRedirect", 307},
                                            {"PermanentRedirect", 308},
                                            {"BadRequest", 400},
                                            {"Unauthorized", 401},
                                            {"PaymentRequired", 402},
                                            {"Forbidden", 403},
                                            {"NotFound", 404},
                                            {"MethodNotAllowed", 405},
                                            {"NotAcceptable", 406},
                                            {"ProxyAuthenticationRequired", 407},
                                            {"RequestTimeout", 408},
                                            {"Conflict", 409},
                                            {"Gone", 410},
                                            {"LengthRequired", 411},
                                            {"PreconditionFailed", 412},
                                            {"PayloadTooLarge", 413},
                                            {"URITooLong", 414},
                                            {"UnsupportedMediaType", 415},
                                            {"RangeNotSatisfiable", 416},
                                            {"ExpectationFailed", 417},
                                            {"MisdirectedRequest", 421},
                                            {"UnprocessableEntity", 422},
                                            {"Locked", 423},
                                            {"FailedDependency", 424},
                                            {"UpgradeRequired", 426},
                                            {"PreconditionRequired", 428},
                                            {"TooManyRequests", 429},
                                            {"RequestHeaderFieldsTooLarge", 431},
                                            {"InternalServerError", 500},
                                            {"NotImplemented", 501},
                                            {"BadGateway", 502},
                                            {"ServiceUnavailable", 503},
                                            {"GatewayTimeout", 504},
                                            {"HTTPVersionNotSupported", 505},
                                            {"VariantAlsoNegotiates", 506},
                                            {"InsufficientStorage", 507},
                                            {"LoopDetected", 508},
                                            {"NotExtended", 510},
                                            {"NetworkAuthenticationRequired", 511}};

inline constexpr Part kHeaderValue[] = {
    {"key", 1, PartKind::Text}, {"value", 2, PartKind::Text}, {"raw_value", 3, PartKind::Bytes}};
inline constexpr Part kHeaderMap[] = {{.name = "headers",
                                       .number = 1,
                                       .kind = PartKind::Message,
                                       .parts = kHeaderValue,
                                       .is_repeated = true}};

inline constexpr Part kToldHead[] = {{"headers", 1, PartKind::Message, kHeaderMap},
                                     {"end_of_stream", 3, PartKind::Flag}};
inline constexpr Part kToldMetadata[] = {
    {.name = "filter_metadata", .number = 1, .kind = PartKind::Struct, .is_map = true}};
inline constexpr Part kToldModes[] = {
    {"request_body_mode", 1, PartKind::Enum, {}, kBodyModes},
    {"response_body_mode", 2, PartKind::Enum, {}, kBodyModes},
    {"send_body_without_waiting_for_header_response", 3, PartKind::Flag}};
inline constexpr Part kRequest[] = {
    {"request_headers", 2, PartKind::Message, kToldHead},
    {"response_headers", 3, PartKind::Message, kToldHead},
    {"metadata_context", 8, PartKind::Message, kToldMetadata},
    {.name = "attributes", .number = 9, .kind = PartKind::Struct, .is_map = true},
    {"observability_mode", 10, PartKind::Flag},
    {"protocol_config", 11, PartKind::Message, kToldModes}};

inline constexpr Part kHeaderOption[] = {{"header", 1, PartKind::Message, kHeaderValue},
                                         {"append", 2, PartKind::FlagBox},
                                         {"append_action", 3, PartKind::Enum, {}, kAppendActions},
                                         {"keep_empty_value", 4, PartKind::Flag}};
inline constexpr Part kHeaderMutation[] = {
    {.name = "set_headers",
     .number = 1,
     .kind = PartKind::Message,
     .parts = kHeaderOption,
     .is_repeated = true},
    {.name = "remove_headers", .number = 2, .kind = PartKind::Text, .is_repeated = true}};
inline constexpr Part kStreamedBody[] = {{"body", 1, PartKind::Bytes},
                                         {"end_of_stream", 2, PartKind::Flag}};
inline constexpr Part kBodyMutation[] = {
    {"body", 1, PartKind::Bytes},
    {"clear_body", 2, PartKind::Flag},
    {"streamed_response", 3, PartKind::Message, kStreamedBody}};
inline constexpr Part kCommon[] = {{"status", 1, PartKind::Enum, {}, kAnswerStatuses},
                                   {"header_mutation", 2, PartKind::Message, kHeaderMutation},
                                   {"body_mutation", 3, PartKind::Message, kBodyMutation},
                                   {"trailers", 4, PartKind::Message, kHeaderMap},
                                   {"clear_route_cache", 5, PartKind::Flag}};
inline constexpr Part kPartAnswer[] = {{"response", 1, PartKind::Message, kCommon}};
inline constexpr Part kTrailersAnswer[] = {
    {"header_mutation", 1, PartKind::Message, kHeaderMutation}};
inline constexpr Part kHttpStatus[] = {{"code", 1, PartKind::Enum, {}, kStatusCodes}};
inline constexpr Part kGrpcStatus[] = {{"status", 1, PartKind::Number}};
inline constexpr Part kImmediate[] = {{"status", 1, PartKind::Message, kHttpStatus},
                                      {"headers", 2, PartKind::Message, kHeaderMutation},
                                      {"body", 3, PartKind::Bytes},
                                      {"grpc_status", 4, PartKind::Message, kGrpcStatus},
                                      {"details", 5, PartKind::Text}};
inline constexpr Part kMode[] = {{"request_header_mode", 1, PartKind::Enum, {}, kHeadModes},
                                 {"response_header_mode", 2, PartKind::Enum, {}, kHeadModes},
                                 {"request_body_mode", 3, PartKind::Enum, {}, kBodyModes},
                                 {"response_body_mode", 4, PartKind::Enum, {}, kBodyModes},
                                 {"request_trailer_mode", 5, PartKind::Enum, {}, kHeadModes},
                                 {"response_trailer_mode", 6, PartKind::Enum, {}, kHeadModes}};
inline constexpr Part kResponse[] = {{"request_headers", 1, PartKind::Message, kPartAnswer},
                                     {"response_headers", 2, PartKind::Message, kPartAnswer},
                                     {"request_body", 3, PartKind::Message, kPartAnswer},
                                     {"response_body", 4, PartKind::Message, kPartAnswer},
                                     {"request_trailers", 5, PartKind::Message, kTrailersAnswer},
                                     {"response_trailers", 6, PartKind::Message, kTrailersAnswer},
                                     {"immediate_response", 7, PartKind::Message, kImmediate},
                                     {"dynamic_metadata", 8, PartKind::Struct},
                                     {"mode_override", 9, PartKind::Message, kMode},
                                     {"override_message_timeout", 10, PartKind::Duration}};

}  // namespace fairlead::filters::processor_json

#include "filters/jwt/status.h"

namespace fairlead::filters {

std::string_view textOf(JwtStatus status) {
  switch (status) {
    case JwtStatus::Ok:
      return "OK";
    case JwtStatus::Missed:
      return "Jwt is missing";
    case JwtStatus::NotYetValid:
      return "Jwt not yet valid";
    case JwtStatus::Expired:
      return "Jwt is expired";
    case JwtStatus::BadFormat:
      return "Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections";
    case JwtStatus::HeaderBadBase64:
      return "Jwt header is an invalid Base64url encoded";
    case JwtStatus::HeaderBadJson:
      return "Jwt header is an invalid JSON";
    case JwtStatus::HeaderBadAlg:
      return "Jwt header [alg] field is required and must be a string";
    case JwtStatus::HeaderUnknownAlg:
      return "Jwt header [alg] is not supported";
    case JwtStatus::HeaderBadKid:
      return "Jwt header [kid] field is not a string";
    case JwtStatus::PayloadBadBase64:
      return "Jwt payload is an invalid Base64url encoded";
    case JwtStatus::PayloadBadJson:
      return "Jwt payload is an invalid JSON";
    case JwtStatus::IssNotString:
      return "Jwt payload [iss] field is not a string";
    case JwtStatus::SubNotString:
      return "Jwt payload [sub] field is not a string";
    case JwtStatus::IatNotInteger:
      return "Jwt payload [iat] field is not an integer";
    case JwtStatus::IatOutOfRange:
      return "Jwt payload [iat] field is not a positive 64 bit integer";
    case JwtStatus::NbfNotInteger:
      return "Jwt payload [nbf] field is not an integer";
    case JwtStatus::NbfOutOfRange:
      return "Jwt payload [nbf] field is not a positive 64 bit integer";
    case JwtStatus::ExpNotInteger:
      return "Jwt payload [exp] field is not an integer";
    case JwtStatus::ExpOutOfRange:
      return "Jwt payload [exp] field is not a positive 64 bit integer";
    case JwtStatus::JtiNotString:
      return "Jwt payload [jti] field is not a string";
    case JwtStatus::AudNotString:
      return "Jwt payload [aud] field is not a string or string list";
    case JwtStatus::SignatureBadBase64:
      return "Jwt signature is an invalid Base64url encoded";
    case JwtStatus::Ed25519WrongLength:
      return "Jwt ED25519 signature is wrong length";
    case JwtStatus::UnknownIssuer:
      return "Jwt issuer is not configured";
    case JwtStatus::AudienceNotAllowed:
      return "Audiences in Jwt are not allowed";
    case JwtStatus::VerificationFails:
      return "Jwt verification fails";
    case JwtStatus::NoValidKeys:
      return "Jwks doesn't have any valid public key";
    case JwtStatus::KidAlgMismatch:
      return "Jwks doesn't have key to match kid or alg from Jwt";
    case JwtStatus::FetchFails:
      return "Jwks remote fetch is failed";
    case JwtStatus::Waits:
      break;
  }
  return {};
}

}  // namespace fairlead::filters

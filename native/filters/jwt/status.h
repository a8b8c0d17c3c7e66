// What becomes of a token: the numbers and words of the real server. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace fairlead::filters {

enum class JwtStatus : uint8_t {
  Ok = 0,
  Missed = 1,
  NotYetValid = 2,
  Expired = 3,
  BadFormat = 4,
  HeaderBadBase64 = 5,
  HeaderBadJson = 6,
  HeaderBadAlg = 7,
  HeaderUnknownAlg = 8,
  HeaderBadKid = 9,
  PayloadBadBase64 = 10,
  PayloadBadJson = 11,
  IssNotString = 12,
  SubNotString = 13,
  IatNotInteger = 14,
  IatOutOfRange = 15,
  NbfNotInteger = 16,
  NbfOutOfRange = 17,
  ExpNotInteger = 18,
  ExpOutOfRange = 19,
  JtiNotString = 20,
  AudNotString = 21,
  SignatureBadBase64 = 22,
  Ed25519WrongLength = 23,
  UnknownIssuer = 24,
  AudienceNotAllowed = 25,
  VerificationFails = 26,
  NoValidKeys = 31,
  KidAlgMismatch = 32,
  FetchFails = 40,
  // None of the real server's: keys have to be fetched first.
  Waits = 255,
};

std::string_view textOf(JwtStatus status);

}  // namespace fairlead::filters

#include "http/message.h"

#include <memory>
#include <string>

#include "test/native/test.h"

namespace fairlead::http {

TEST("every known header's name leads to its id, and its id to its name") {
  for (int i = 1; i < static_cast<int>(HeaderId::kCount); ++i) {
    const auto id = static_cast<HeaderId>(i);
    EXPECT(!headerName(id).empty());
    EXPECT_EQ(internHeader(headerName(id)), id);
  }
}

TEST("a name that differs from a known one in a single byte is none of ours") {
  for (int i = 1; i < static_cast<int>(HeaderId::kCount); ++i) {
    const std::string_view name = headerName(static_cast<HeaderId>(i));
    for (size_t at = 0; at < name.size(); ++at) {
      std::string other(name);
      other[at] = other[at] == 'q' ? 'z' : 'q';
      EXPECT_EQ(internHeader(other), HeaderId::Other);
    }
    EXPECT_EQ(internHeader(std::string(name) + "s"), HeaderId::Other);
    EXPECT_EQ(internHeader(std::string(name) + std::string(256, 's')), HeaderId::Other);
    EXPECT_EQ(internHeader(name.substr(0, name.size() - 1)), HeaderId::Other);
  }
  EXPECT_EQ(internHeader(""), HeaderId::Other);
}

TEST("a status without a phrase of its own is Unknown") {
  EXPECT_EQ(reasonPhrase(200), "OK");
  EXPECT_EQ(reasonPhrase(413), "Payload Too Large");
  EXPECT_EQ(reasonPhrase(425), "Too Early");
  EXPECT_EQ(reasonPhrase(431), "Request Header Fields Too Large");
  EXPECT_EQ(reasonPhrase(299), "Unknown");
  EXPECT_EQ(reasonPhrase(600), "Unknown");
}

TEST("set replaces the first header of its id and takes out the others") {
  const auto headers = std::make_unique<HeaderMap>();
  headers->add(HeaderId::Via, "via", "1");
  headers->add(HeaderId::Other, "x-a", "2");
  headers->add(HeaderId::Via, "via", "3");
  headers->set(HeaderId::Via, "4");
  headers->set(HeaderId::Server, "5");
  EXPECT_EQ(headers->find(HeaderId::Via)->value(), "4");
  EXPECT_EQ((*headers)[2].name_size, 0);
  EXPECT_EQ(headers->find("server")->value(), "5");
}

TEST("a full map takes no more headers") {
  const auto headers = std::make_unique<HeaderMap>();
  for (uint32_t i = 0; i < HeaderMap::kMax + 5; ++i) headers->add(HeaderId::Other, "x", "y");
  EXPECT_EQ(headers->size(), HeaderMap::kMax);
}

}  // namespace fairlead::http

#include "base/xxhash.h"

#include "test/native/test.h"

namespace fairlead {

TEST("Texts of any length have the hashes that everybody's XXH64 has") {
  EXPECT_EQ(xxHash64(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(xxHash64("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(xxHash64("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(xxHash64("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

}  // namespace fairlead

// What goes along with connections to hosts, and which of them may share one.
#include "net/shared_states.h"

#include "test/native/test.h"

namespace fairlead::net {

namespace {

using Form = FilterState::Form;

constexpr StateSharing kOnce{.is_shared = true};
constexpr StateSharing kAlways{.is_shared = true, .goes_on = true};
constexpr StateSharing kHashed{.is_shared = true, .is_hashable = true};

}  // namespace

TEST("Nothing goes along where nothing is shared") {
  FilterState state;
  state.set("a", "1", false);
  EXPECT(SharedStates::of(nullptr, nullptr) == nullptr);
  EXPECT(SharedStates::of(&state, &state) == nullptr);
}

TEST("What is shared of a connection and of its request arrives; what goes on does so again") {
  FilterState connection;
  connection.set("c", "1", false, Form::Quoted, kOnce);
  FilterState request;
  request.set("own", "2", false);
  request.set("r", "3", true, Form::Quoted, kAlways);
  FilterState arrived;
  SharedStates::of(&connection, &request)->keepIn(&arrived);
  EXPECT_EQ(*arrived.find("c"), "1");
  EXPECT_EQ(*arrived.find("r"), "3");
  EXPECT(arrived.find("own") == nullptr);
  EXPECT(!arrived.set("r", "4", false));

  FilterState further;
  SharedStates::of(&arrived, nullptr)->keepIn(&further);
  EXPECT(further.find("c") == nullptr);
  EXPECT_EQ(*further.find("r"), "3");
}

TEST("Requests share connections unless what is hashed differs") {
  const auto keyOf = [](const char* hashed, const char* other) {
    FilterState state;
    state.set("h", hashed, false, Form::Quoted, kHashed);
    state.set("o", other, false, Form::Quoted, kOnce);
    return SharedStates::of(nullptr, &state)->key();
  };
  EXPECT_EQ(keyOf("1", "a"), keyOf("1", "b"));
  EXPECT(keyOf("1", "a") != keyOf("2", "a"));
}

TEST("A value that is set again is shared as it was set last") {
  FilterState state;
  state.set("a", "1", false, Form::Quoted, kOnce);
  state.set("a", "2", false);
  EXPECT(SharedStates::of(&state, nullptr) == nullptr);
}

}  // namespace fairlead::net

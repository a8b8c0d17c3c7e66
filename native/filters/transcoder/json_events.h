// What is found in JSON, as it comes. Names are those of members; elements of lists, and what is at
// the top, have none. Views live until the call returns.
#pragma once

#include <string_view>

#include "filters/transcoder/json_value.h"

namespace fairlead::transcoder {

class JsonEvents {
 public:
  virtual void beginObject(std::string_view name) = 0;
  virtual void endObject() = 0;
  virtual void beginList(std::string_view name) = 0;
  virtual void endList() = 0;
  virtual void scalar(std::string_view name, const JsonValue& value) = 0;

 protected:
  ~JsonEvents() = default;
};

}  // namespace fairlead::transcoder

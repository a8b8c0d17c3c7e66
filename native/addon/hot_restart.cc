#include "addon/hot_restart.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "addon/edge.h"
#include "addon/readable.h"
#include "hot_restart/message_socket.h"
#include "hot_restart/shared_region.h"

namespace fairlead::addon {

namespace {

using hot_restart::MessageSocket;
using hot_restart::RegionLayout;
using hot_restart::SharedRegion;

uv_loop_t* loopOf(const Napi::Env& env) {
  uv_loop_t* loop = nullptr;
  napi_get_uv_event_loop(env, &loop);
  return loop;
}

// Calls into JavaScript from the loop. What it throws is the process's end, as from any callback.
void callBack(const Napi::FunctionReference& function, const std::vector<napi_value>& arguments) {
  function.MakeCallback(function.Env().Global(), arguments);
}

const char* nameOf(SharedRegion::Status status) {
  using Status = SharedRegion::Status;
  switch (status) {
    case Status::Created:
      return "created";
    case Status::Replaced:
      return "replaced";
    case Status::Joined:
      return "joined";
    case Status::InUse:
      return "in-use";
    case Status::Missing:
      return "missing";
    case Status::OtherLayout:
      return "other-layout";
    case Status::NoRoom:
      return "no-room";
    case Status::Failed:
      return "failed";
  }
  return "";
}

class RegionObject final : public Napi::ObjectWrap<RegionObject> {
 public:
  // {status, error, layoutVersion, region}
  static Napi::Value open(const Napi::Env& env, SharedRegion::Opened opened) {
    const Napi::Object result = Napi::Object::New(env);
    result.Set("status", nameOf(opened.status));
    result.Set("error", opened.error == 0 ? "" : std::strerror(opened.error));
    result.Set("layoutVersion", opened.layout_version);
    if (opened.region) {
      const Napi::Function constructor =
          DefineClass(env, "SharedRegion",
                      {InstanceMethod("beginInitializing", &RegionObject::beginInitializing),
                       InstanceMethod("endInitializing", &RegionObject::endInitializing),
                       InstanceMethod("isAnyoneInitializing", &RegionObject::isAnyoneInitializing),
                       InstanceMethod("otherEpochs", &RegionObject::otherEpochs),
                       InstanceAccessor("lastEpoch", &RegionObject::lastEpoch, nullptr),
                       InstanceAccessor("generation", &RegionObject::generation, nullptr),
                       InstanceAccessor("originalStartMs", &RegionObject::originalStartMs, nullptr),
                       InstanceMethod("serve", &RegionObject::serve),
                       InstanceMethod("shareLines", &RegionObject::shareLines),
                       InstanceMethod("close", &RegionObject::close)});
      const Napi::Object object = constructor.New({});
      Unwrap(object)->region_ = std::move(opened.region);
      result.Set("region", object);
    }
    return result;
  }
  explicit RegionObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

 private:
  Napi::Value beginInitializing(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), region_ && region_->beginInitializing());
  }
  void endInitializing(const Napi::CallbackInfo&) {
    if (region_) region_->endInitializing();
  }
  Napi::Value isAnyoneInitializing(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), region_ && region_->isAnyoneInitializing());
  }
  Napi::Value otherEpochs(const Napi::CallbackInfo& info) {
    const std::vector<uint32_t> epochs = region_ ? region_->otherEpochs() : std::vector<uint32_t>();
    const Napi::Array result = Napi::Array::New(info.Env(), epochs.size());
    for (uint32_t i = 0; i < epochs.size(); ++i) result.Set(i, epochs[i]);
    return result;
  }
  Napi::Value number(const Napi::Env& env, uint64_t value) {
    return Napi::Number::New(env, static_cast<double>(value));
  }
  Napi::Value lastEpoch(const Napi::CallbackInfo& info) {
    return number(info.Env(), region_ ? region_->layout().last_epoch.load() : 0);
  }
  Napi::Value generation(const Napi::CallbackInfo& info) {
    return number(info.Env(), region_ ? region_->layout().generation.load() : 0);
  }
  Napi::Value originalStartMs(const Napi::CallbackInfo& info) {
    return number(info.Env(), region_ ? region_->layout().original_start_ms.load() : 0);
  }
  // serve(epoch, generation): this process accepts connections.
  void serve(const Napi::CallbackInfo& info) {
    if (region_) region_->serve(info[0].ToNumber().Uint32Value(), info[1].ToNumber().Uint32Value());
  }
  void shareLines(const Napi::CallbackInfo&) {
    if (region_) region_->shareLines();
  }
  void close(const Napi::CallbackInfo&) { region_.reset(); }

  std::unique_ptr<SharedRegion> region_;
};

class SocketObject final : public Napi::ObjectWrap<SocketObject> {
 public:
  // (name, mode, onMessage): an object, or the number of an error.
  static Napi::Value bind(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (!info[0].IsString() || !info[2].IsFunction()) {
      return fail(env, "bindSocket() takes a name, a mode and a function");
    }
    const Napi::Object object = define(env).New({});
    SocketObject& self = *Unwrap(object);
    const int error =
        self.socket_->bind(info[0].ToString().Utf8Value(), info[1].ToNumber().Uint32Value());
    if (error != 0) return Napi::Number::New(env, error);
    self.on_message_ = Napi::Persistent(info[2].As<Napi::Function>());
    const bool watched =
        self.readable_.start(loopOf(env), self.socket_->fd(), [&self] { self.onReadable(); });
    if (!watched) return fail(env, "the socket cannot be watched");
    return object;
  }
  // Without a name.
  static Napi::Value open(const Napi::CallbackInfo& info) {
    const Napi::Object object = define(info.Env()).New({});
    const int error = Unwrap(object)->socket_->open();
    if (error != 0) return Napi::Number::New(info.Env(), error);
    return object;
  }
  explicit SocketObject(const Napi::CallbackInfo& info)
      : ObjectWrap(info), socket_(std::make_unique<MessageSocket>()) {}

 private:
  static Napi::Function define(const Napi::Env& env) {
    return DefineClass(env, "MessageSocket",
                       {InstanceMethod("send", &SocketObject::send),
                        InstanceMethod("close", &SocketObject::close)});
  }

  // send(to, bytes, descriptors): 0 or the number of an error.
  Napi::Value send(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (!info[1].IsTypedArray()) return fail(env, "send() takes bytes");
    if (!socket_) return Napi::Number::New(env, EBADF);
    std::vector<int> descriptors;
    if (info[2].IsArray()) {
      const Napi::Array list = info[2].As<Napi::Array>();
      for (uint32_t i = 0; i < list.Length(); ++i) {
        descriptors.push_back(list.Get(i).ToNumber().Int32Value());
      }
    }
    const int error = socket_->send(info[0].ToString().Utf8Value(), bytesOf(info[1]), descriptors);
    return Napi::Number::New(env, error);
  }

  void close(const Napi::CallbackInfo&) {
    readable_.stop();
    socket_.reset();
  }

  void onReadable() {
    // A message may be the last that is wanted; and who sends without end waits for everything
    // else.
    for (int i = 0; socket_ && i < kMessagesPerTurn; ++i) {
      MessageSocket::Message message;
      const int error = socket_->receive(&message);
      if (error == EBADMSG) continue;
      if (error != 0) return;
      const Napi::Env env = on_message_.Env();
      const Napi::HandleScope scope(env);
      const Napi::Array descriptors = Napi::Array::New(env, message.descriptors.size());
      for (uint32_t i = 0; i < descriptors.Length(); ++i) {
        descriptors.Set(i, message.descriptors[i].release());
      }
      callBack(
          on_message_,
          {Napi::Buffer<char>::Copy(env, message.bytes.data(), message.bytes.size()), descriptors});
    }
  }

  static constexpr int kMessagesPerTurn = 64;

  std::unique_ptr<MessageSocket> socket_;
  Readable readable_;
  Napi::FunctionReference on_message_;
};

// One end of a pair of sockets whose other end another process holds: it is readable when that
// process ends, however it ends.
class LifelineObject final : public Napi::ObjectWrap<LifelineObject> {
 public:
  // (fd, onEnd). The descriptor is this object's from here on, unless it cannot be watched.
  static Napi::Value watch(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (!info[0].IsNumber() || !info[1].IsFunction()) {
      return fail(env, "watchLifeline() takes a descriptor and a function");
    }
    const Napi::Function constructor =
        DefineClass(env, "Lifeline", {InstanceMethod("close", &LifelineObject::close)});
    const Napi::Object object = constructor.New({});
    LifelineObject& self = *Unwrap(object);
    self.fd_ = net::FileDescriptor(info[0].ToNumber().Int32Value());
    self.on_end_ = Napi::Persistent(info[1].As<Napi::Function>());
    if (!self.readable_.start(loopOf(env), self.fd_.get(), [&self] { self.onReadable(); })) {
      self.fd_.release();
      return env.Undefined();
    }
    return object;
  }
  explicit LifelineObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

 private:
  void close(const Napi::CallbackInfo&) { end(); }
  void end() {
    readable_.stop();
    fd_.close();
  }
  void onReadable() {
    const Napi::HandleScope scope(on_end_.Env());
    end();
    callBack(on_end_, {});
  }

  net::FileDescriptor fd_;
  Readable readable_;
  Napi::FunctionReference on_end_;
};

// [mine, theirs]
Napi::Value openLifeline(const Napi::CallbackInfo& info) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(info.Env(), std::string("socketpair: ") + std::strerror(errno));
  }
  const Napi::Array pair = Napi::Array::New(info.Env(), 2);
  pair.Set(0u, ends[0]);
  pair.Set(1u, ends[1]);
  return pair;
}

// Whether connections can be accepted from this descriptor, which may be anything.
Napi::Value isListening(const Napi::CallbackInfo& info) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  const int fd = info[0].ToNumber().Int32Value();
  const bool is_known = ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0;
  return Napi::Boolean::New(info.Env(), is_known && listens != 0);
}

void closeDescriptors(const Napi::CallbackInfo& info) {
  const Napi::Array list = info[0].As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) ::close(list.Get(i).ToNumber().Int32Value());
}

}  // namespace

void exportHotRestart(const Napi::Env& env, Napi::Object exports) {
  const Napi::Object module = Napi::Object::New(env);
  const auto add = [&](const char* name, auto function) {
    module.Set(name, Napi::Function::New(env, function, name));
  };
  module.Set("layoutVersion", RegionLayout::kLayoutVersion);
  module.Set("layoutBytes", static_cast<double>(sizeof(RegionLayout)));
  module.Set("maxMessageBytes", static_cast<double>(MessageSocket::kMaxBytes));
  module.Set("maxDescriptors", static_cast<double>(MessageSocket::kMaxDescriptors));
  add("createRegion", [](const Napi::CallbackInfo& info) {
    return RegionObject::open(info.Env(), SharedRegion::create(info[0].ToString().Utf8Value()));
  });
  add("joinRegion", [](const Napi::CallbackInfo& info) {
    return RegionObject::open(info.Env(), SharedRegion::join(info[0].ToString().Utf8Value()));
  });
  add("bindSocket", SocketObject::bind);
  add("openSocket", SocketObject::open);
  add("openLifeline", openLifeline);
  add("watchLifeline", LifelineObject::watch);
  add("isListening", isListening);
  add("closeDescriptors", closeDescriptors);
  exports.Set("hotRestart", module);
}

}  // namespace fairlead::addon

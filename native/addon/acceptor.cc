#include "addon/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "addon/edge.h"
#include "addon/readable.h"
#include "net/address.h"
#include "net/file_descriptor.h"
#include "net/listener.h"
#include "net/received_bytes.h"

namespace fairlead::addon {

namespace {

// Of one turn of the loop: others have something to do as well.
constexpr int kMaxPerTurn = 64;

class AcceptorObject final : public Napi::ObjectWrap<AcceptorObject> {
 public:
  static Napi::Value open(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const Napi::Function constructor =
        DefineClass(env, "Acceptor",
                    {InstanceMethod("pause", &AcceptorObject::pause),
                     InstanceMethod("resume", &AcceptorObject::resume),
                     InstanceMethod("close", &AcceptorObject::close),
                     InstanceMethod("closeWhenAccepted", &AcceptorObject::closeWhenAccepted)});
    const Napi::Object object = constructor.New({});
    AcceptorObject& self = *Unwrap(object);
    self.listen_fd_ = net::FileDescriptor(info[0].ToNumber().Int32Value());
    self.on_connection_ = Napi::Persistent(info[1].As<Napi::Function>());
    self.openSpare();
    if (!self.watch()) return fail(env, "the listen socket cannot be watched");
    return object;
  }
  explicit AcceptorObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

 private:
  bool watch() {
    uv_loop_t* loop = nullptr;
    napi_get_uv_event_loop(on_connection_.Env(), &loop);
    return readable_.start(loop, listen_fd_.get(), [this] { accept(kMaxPerTurn); });
  }

  void pause(const Napi::CallbackInfo&) { readable_.stop(); }
  void resume(const Napi::CallbackInfo& info) {
    readable_.stop();
    if (listen_fd_.valid() && !watch()) fail(info.Env(), "the listen socket cannot be watched");
  }
  void close(const Napi::CallbackInfo&) { end(); }
  // The kernel would reset those that wait.
  void closeWhenAccepted(const Napi::CallbackInfo&) {
    if (listen_fd_.valid()) accept(SOMAXCONN);
    end();
  }
  void end() {
    readable_.stop();
    listen_fd_.close();
    spare_.close();
  }

  void accept(int limit) {
    const Napi::HandleScope scope(on_connection_.Env());
    for (int count = 0; count < limit && listen_fd_.valid(); ++count) {
      net::FileDescriptor fd(
          ::accept4(listen_fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.valid()) {
        hand(std::move(fd));
      } else if (errno == EMFILE || errno == ENFILE) {
        refuseOne();
      } else if (errno != EINTR && errno != ECONNABORTED) {
        return;
      }
    }
  }

  void hand(net::FileDescriptor fd) {
    const Napi::Env env = on_connection_.Env();
    sockaddr_storage peer = {};
    socklen_t size = sizeof(peer);
    auto* const raw = reinterpret_cast<sockaddr*>(&peer);
    // It has left already.
    if (::getpeername(fd.get(), raw, &size) != 0) return;
    const std::string remote = net::Address::fromKernel(raw, size).text();
    const std::string local = net::boundAddress(fd.get()).text();
    const Napi::HandleScope scope(env);
    on_connection_.MakeCallback(
        env.Global(), {Napi::Number::New(env, fd.release()), Napi::String::New(env, remote),
                       Napi::String::New(env, local)});
  }

  // There is no descriptor for the connection: it would be found waiting for ever.
  void refuseOne() {
    spare_.close();
    net::FileDescriptor(::accept4(listen_fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)).close();
    openSpare();
  }
  void openSpare() { spare_ = net::FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

  net::FileDescriptor listen_fd_;
  net::FileDescriptor spare_;
  Readable readable_;
  Napi::FunctionReference on_connection_;
};

}  // namespace

Napi::Value acceptConnections(const Napi::CallbackInfo& info) {
  if (!info[0].IsNumber() || !info[1].IsFunction())
    return fail(info.Env(), "acceptConnections() takes a descriptor and a function");
  return AcceptorObject::open(info);
}

Napi::Value receivedBytes(const Napi::CallbackInfo& info) {
  if (!info[0].IsNumber()) return fail(info.Env(), "receivedBytes() takes a descriptor");
  const uint64_t bytes = net::receivedBytes(info[0].ToNumber().Int32Value());
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

Napi::Value duplicateDescriptor(const Napi::CallbackInfo& info) {
  if (!info[0].IsNumber()) return fail(info.Env(), "duplicateDescriptor() takes a descriptor");
  const int copy = ::fcntl(info[0].ToNumber().Int32Value(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return fail(info.Env(), std::string("dup: ") + std::strerror(errno));
  return Napi::Number::New(info.Env(), copy);
}

}  // namespace fairlead::addon

// The part of the proxy object that tells about clusters. The control thread's.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/control_call.h"
#include "upstream/control_hosts.h"
#include "worker/data_plane.h"

namespace fairlead::addon {

class ProxyClusters {
 public:
  // `demands`: asked for when requests wait for something.
  ProxyClusters(std::shared_ptr<worker::DataPlane> data_plane, std::shared_ptr<ControlCall> demands)
      : data_plane_(std::move(data_plane)),
        control_hosts_(data_plane_->workerCount()),
        demands_(std::move(demands)) {}

  // How the names of its statistics begin. Absent: there is no such cluster.
  Napi::Value clusterPrefix(const Napi::CallbackInfo& info);

  // ---- connections of the control plane itself ----
  // Absent: the cluster has no host that may be used, or is not there.
  Napi::Value chooseHost(const Napi::CallbackInfo& info);
  // Of a host that is gone nothing is counted any more.
  void hostAdd(const Napi::CallbackInfo& info);
  void countAnswer(const Napi::CallbackInfo& info);
  void countRetried(const Napi::CallbackInfo& info);
  void recordAnswerTime(const Napi::CallbackInfo& info);
  // Takes one of a budget of the default priority, or gives one back. Whether there was one left;
  // where none is, one is taken only if asked to go beyond.
  Napi::Value takeBudget(const Napi::CallbackInfo& info);
  void returnBudget(const Napi::CallbackInfo& info);
  void addHttp2Stats(const Napi::CallbackInfo& info);
  Napi::Value addGoogleGrpcStats(const Napi::CallbackInfo& info);
  Napi::Value addTracerStats(const Napi::CallbackInfo& info);
  Napi::Value addLdsStats(const Napi::CallbackInfo& info);
  Napi::Value addCdsStats(const Napi::CallbackInfo& info);
  Napi::Value addControlPlaneStats(const Napi::CallbackInfo& info);
  void setWarming(const Napi::CallbackInfo& info);
  void endWaits(const Napi::CallbackInfo& info);
  Napi::Value addRtdsStats(const Napi::CallbackInfo& info);
  Napi::Value addLoadReporterStats(const Napi::CallbackInfo& info);
  Napi::Value addHdsStats(const Napi::CallbackInfo& info);
  void removeStats(const Napi::CallbackInfo& info);
  Napi::Value addRdsStats(const Napi::CallbackInfo& info);
  Napi::Value addSdsStats(const Napi::CallbackInfo& info);
  Napi::Value addVhdsStats(const Napi::CallbackInfo& info);
  Napi::Value addScopedRdsStats(const Napi::CallbackInfo& info);
  Napi::Value addLedsStats(const Napi::CallbackInfo& info);
  Napi::Value addExtensionStats(const Napi::CallbackInfo& info);
  Napi::Value addOdcdsStats(const Napi::CallbackInfo& info);

  // ---- what requests wait for ----
  // Calls a function, once it is given, with a list of what they do.
  void onDemands(const Napi::CallbackInfo& info);

  // Absent: there is no such cluster.
  Napi::Value clusterStatus(const Napi::CallbackInfo& info);
  // Absent: there is no such cluster, or nobody wants to know.
  Napi::Value takeLoads(const Napi::CallbackInfo& info);
  Napi::Value openClusters(const Napi::CallbackInfo& info);

 private:
  // Null: there is no such cluster.
  std::shared_ptr<upstream::Cluster> find(const Napi::Value& name) const;

  std::shared_ptr<worker::DataPlane> data_plane_;
  upstream::ControlHosts control_hosts_;
  std::shared_ptr<ControlCall> demands_;
};

}  // namespace fairlead::addon

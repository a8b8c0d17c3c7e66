// Which cluster is meant where it may be gone: an address, or a name, may be another's by then.
#pragma once

#include <cstdint>

namespace fairlead::upstream {

// No two clusters of the process ever have the same.
enum class ClusterLife : uint64_t {};

constexpr ClusterLife kNoClusterLife{0};

// Any thread: one that nobody has had.
ClusterLife nextClusterLife();

}  // namespace fairlead::upstream

{
  "targets": [
    {
      "target_name": "fairlead",
      "sources": ["<!@(node scripts/native-sources.mjs)"],
      "include_dirs": ["native", "<!@(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"],
      "cflags!": ["-std=gnu++17", "-fno-omit-frame-pointer"],
      "cflags_cc!": ["-std=gnu++17", "-std=gnu++20"],
      "cflags_cc": [
        "-std=c++20", "-O2", "-g1", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden",
        "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-cast-function-type",
        # GCC's measure of how much inlining may add: its own is for files, not for several folders as one.
        "--param=inline-unit-growth=200"
      ],
      "ldflags": ["-Wl,-z,nodelete"],
      "configurations": {"Release": {"defines": ["NDEBUG"]}},
      "conditions": [["target_arch=='x64'", {"cflags_cc": ["-march=x86-64-v2"]}]]
    }
  ]
}

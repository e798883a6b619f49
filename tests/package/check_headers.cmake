# The headers below PREFIX are the public ones of SOURCE, all and only; and the
# license comes with them, in the folder DOCS.
cmake_minimum_required(VERSION 3.16)
file(GLOB_RECURSE installed RELATIVE "${PREFIX}/include"
  "${PREFIX}/include/*")
set(public "")
foreach(folder core backends/memory backends/redis tests/kit tools/limits_json)
  file(GLOB_RECURSE headers RELATIVE "${SOURCE}/${folder}/include"
    "${SOURCE}/${folder}/include/*.h")
  list(APPEND public ${headers})
endforeach()
if(NOT EXISTS "${PREFIX}/include/weir/limiter.h")
  message(FATAL_ERROR "weir/limiter.h is not installed")
endif()
set(extra "${installed}")
list(REMOVE_ITEM extra ${public})
if(extra)
  message(FATAL_ERROR "installed, but not public: ${extra}")
endif()
set(missing "${public}")
list(REMOVE_ITEM missing ${installed})
# Optional parts.
list(FILTER missing EXCLUDE REGEX "redis|weir/testing/|limits_json")
if(missing)
  message(FATAL_ERROR "public, but not installed: ${missing}")
endif()

if(NOT EXISTS "${PREFIX}/${DOCS}/LICENSE")
  message(FATAL_ERROR "the license is not installed: ${PREFIX}/${DOCS}/LICENSE")
endif()

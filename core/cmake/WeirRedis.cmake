# The Redis store, target weir::redis. WEIR_REDIS says whether:
#   AUTO  built where hiredis is found
#   ON    hiredis must be there
#   OFF   not built
# Sets WEIR_HAVE_REDIS.

include(WeirEmbedScript)
include(WeirScripts)

set(WEIR_HAVE_REDIS OFF)
if(NOT WEIR_REDIS MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "WEIR_REDIS is \"${WEIR_REDIS}\"; allowed: AUTO, ON, OFF")
endif()

if(WEIR_REDIS STREQUAL "OFF")
  set(_weir_redis_why "not built (WEIR_REDIS=OFF)")
else()
  # The module beside this file, also where a user prefers config packages.
  find_package(Hiredis 0.14 MODULE QUIET)
  if(Hiredis_FOUND)
    set(WEIR_HAVE_REDIS ON)
    set(_weir_redis_why "built (hiredis ${Hiredis_VERSION})")
  elseif(WEIR_REDIS STREQUAL "ON")
    message(FATAL_ERROR
      "WEIR_REDIS=ON, but hiredis 0.14 or newer was not found. Install "
      "libhiredis-dev, or set Hiredis_ROOT, or WEIR_REDIS=OFF to go without "
      "the Redis store.")
  else()
    set(_weir_redis_why
        "not built (hiredis not found; Debian's package: libhiredis-dev)")
  endif()
endif()

if(WEIR_HAVE_REDIS)
  weir_write_scripts("${PROJECT_BINARY_DIR}/generated/engine_scripts.h")
  add_library(weir_redis
    backends/redis/breaker.cc
    backends/redis/channel.cc
    backends/redis/client.cc
    backends/redis/cluster_map.cc
    backends/redis/counters.cc
    backends/redis/course.cc
    backends/redis/dialer.cc
    backends/redis/errors.cc
    backends/redis/fork_mark.cc
    backends/redis/key_name.cc
    backends/redis/link.cc
    backends/redis/lookup.cc
    backends/redis/node.cc
    backends/redis/options.cc
    backends/redis/reactor.cc
    backends/redis/redis_store.cc
    backends/redis/resp.cc
    backends/redis/router.cc
    backends/redis/script_set.cc
    backends/redis/sha1.cc
    backends/redis/signal.cc
    backends/redis/slot.cc
    backends/redis/socket.cc
    backends/redis/step_codec.cc
    backends/redis/stream.cc
    backends/redis/sweep_keys.cc
    backends/redis/url.cc)
  add_library(weir::redis ALIAS weir_redis)
  set_target_properties(weir_redis PROPERTIES
    EXPORT_NAME redis
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(weir_redis
    PUBLIC
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/backends/redis/include>"
      "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE
      "${PROJECT_SOURCE_DIR}"
      "${PROJECT_BINARY_DIR}/generated")
  find_package(Threads REQUIRED)
  target_link_libraries(weir_redis
    PUBLIC weir
    PRIVATE absl::cord absl::inlined_vector absl::strings
            hiredis::hiredis Threads::Threads)
  weir_developer_flags(weir_redis)
  weir_quick_when_sanitized(weir_redis)
endif()

message(STATUS "weir: Redis store: ${_weir_redis_why}")

# The Redis store, target weir::redis. WEIR_REDIS says whether:
#   AUTO  built where hiredis is found
#   ON    hiredis must be there
#   OFF   not built
# WEIR_TLS says, alike, whether it speaks TLS, for which it needs OpenSSL.
# Sets WEIR_HAVE_REDIS and WEIR_HAVE_TLS.

include(WeirEmbedScript)
include(WeirScripts)

set(WEIR_HAVE_REDIS OFF)
set(WEIR_HAVE_TLS OFF)
foreach(_weir_option WEIR_REDIS WEIR_TLS)
  if(NOT "${${_weir_option}}" MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR
      "${_weir_option} is \"${${_weir_option}}\"; allowed: AUTO, ON, OFF")
  endif()
endforeach()

if(WEIR_REDIS STREQUAL "OFF")
  set(_weir_redis_why "not built (WEIR_REDIS=OFF)")
else()
  # The module beside this file, also where a user prefers config packages.
  find_package(Hiredis 0.14 MODULE QUIET)
  if(Hiredis_FOUND)
    set(WEIR_HAVE_REDIS ON)
    set(_weir_redis_why "built (hiredis ${Hiredis_VERSION})")
  elseif(WEIR_REDIS STREQUAL "ON" AND Hiredis_MISMATCH)
    message(FATAL_ERROR
      "WEIR_REDIS=ON, but ${Hiredis_MISMATCH}. Set Hiredis_ROOT to where the "
      "headers and the library of one hiredis are.")
  elseif(WEIR_REDIS STREQUAL "ON")
    message(FATAL_ERROR
      "WEIR_REDIS=ON, but hiredis 0.14 or newer was not found. Install "
      "libhiredis-dev, or set Hiredis_ROOT, or WEIR_REDIS=OFF to go without "
      "the Redis store.")
  elseif(Hiredis_MISMATCH)
    set(_weir_redis_why "not built (${Hiredis_MISMATCH})")
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
  if(NOT WEIR_TLS STREQUAL "OFF")
    find_package(OpenSSL 1.1.1 QUIET)
    if(OPENSSL_FOUND)
      set(WEIR_HAVE_TLS ON)
    elseif(WEIR_TLS STREQUAL "ON")
      message(FATAL_ERROR
        "WEIR_TLS=ON, but OpenSSL 1.1.1 or newer was not found. Install "
        "libssl-dev, or set WEIR_TLS=OFF to go without rediss://.")
    endif()
  endif()
  if(WEIR_HAVE_TLS)
    target_sources(weir_redis PRIVATE backends/redis/tls_openssl.cc)
    target_link_libraries(weir_redis PRIVATE OpenSSL::SSL)
    string(APPEND _weir_redis_why ", with TLS (OpenSSL ${OPENSSL_VERSION})")
  else()
    target_sources(weir_redis PRIVATE backends/redis/tls_none.cc)
    string(APPEND _weir_redis_why ", without TLS")
  endif()
  add_library(weir::redis ALIAS weir_redis)
  set_target_properties(weir_redis PROPERTIES EXPORT_NAME redis)
  weir_library(weir_redis)
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

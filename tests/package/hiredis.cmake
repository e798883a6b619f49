# A hiredis that is not the system's, wherever the system has one too. It is made
# up: what is asked is which headers and which library are taken.
#
#   prefix, root, pkg_config  CMAKE_PREFIX_PATH, Hiredis_ROOT and PKG_CONFIG_PATH
#                             lead to its headers and to its library
#   apart                     headers of one with the library of another are
#                             refused
#   another                   and so is a hiredis that an installed weir::redis
#                             was not built with
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
list(FILTER configure EXCLUDE REGEX "Hiredis_ROOT")

set(hiredis "${WORK}/hiredis")
set(expected "")
file(REMOVE_RECURSE "${WORK}")
file(WRITE "${hiredis}/include/hiredis/hiredis.h" "#define HIREDIS_MAJOR 9
#define HIREDIS_MINOR 8
#define HIREDIS_PATCH 7
")
file(WRITE "${hiredis}/lib/libhiredis.a" "hiredisSetAllocators")
file(WRITE "${hiredis}/lib/pkgconfig/hiredis.pc" "prefix=${hiredis}
libdir=\${prefix}/lib
includedir=\${prefix}/include/hiredis
Name: hiredis
Description: not the system's
Version: 9.8.7
Libs: -L\${libdir} -lhiredis
Cflags: -I\${includedir}
")
set(options -S "${SOURCE}" -DWEIR_REDIS=ON -DWEIR_BUILD_CLI=OFF
  -DWEIR_BUILD_LIMITS_JSON=OFF)
if(CASE STREQUAL "prefix")
  list(APPEND options "-DCMAKE_PREFIX_PATH=${hiredis}")
elseif(CASE STREQUAL "root")
  list(APPEND options "-DHiredis_ROOT=${hiredis}")
elseif(CASE STREQUAL "pkg_config")
  set(ENV{PKG_CONFIG_PATH} "${hiredis}/lib/pkgconfig")
elseif(CASE STREQUAL "apart")
  file(WRITE "${hiredis}/lib/libhiredis.a" "redisReaderCreate")
  list(APPEND options "-DHiredis_ROOT=${hiredis}")
  set(expected "is hiredis 9\\.8\\.7, but [^ ]* is older than 1\\.0")
elseif(CASE STREQUAL "another")
  set(options -S "${CMAKE_CURRENT_LIST_DIR}/own_engine"
    "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DWEIR_SOURCE_DIR=${SOURCE}"
    "-DHiredis_ROOT=${hiredis}")
  set(expected "built with hiredis [0-9.]+, but [^ ]* is 9\\.8\\.7")
endif()

configure_expecting("${expected}" ${options} -B "${WORK}/build")
if(expected STREQUAL "")
  load_cache("${WORK}/build" READ_WITH_PREFIX found_
    Hiredis_INCLUDE_DIR Hiredis_LIBRARY)
  if(NOT found_Hiredis_INCLUDE_DIR STREQUAL "${hiredis}/include" OR
     NOT found_Hiredis_LIBRARY STREQUAL "${hiredis}/lib/libhiredis.a")
    message(FATAL_ERROR "taken were ${found_Hiredis_INCLUDE_DIR} and "
                        "${found_Hiredis_LIBRARY}")
  endif()
endif()

# Builds the consumer project of one WAY against the copy in PREFIX (or, with
# add_subdirectory, against SOURCE), as WORK/consumer17 and WORK/consumer20.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

set(project "${CMAKE_CURRENT_LIST_DIR}/${WAY}")
set(shared OFF)
if(KIND STREQUAL "shared")
  set(shared ON)
endif()

if(WAY STREQUAL "pkg_config")
  file(MAKE_DIRECTORY "${WORK}")
  function(build standard module source output)
    run("${CMAKE_COMMAND}" -E env
      "PKG_CONFIG_PATH=${PREFIX}/${LIBDIR}/pkgconfig"
      "LD_RUN_PATH=${PREFIX}/${LIBDIR}" "CXX=${LAUNCHER} ${COMPILER}"
      sh "${project}/build.sh" ${standard} ${module} "${source}"
      "${WORK}/${output}" ${ARGN})
  endfunction()
  foreach(standard 17 20)
    # A plain `pkg-config --libs weir` must do for either kind; --static must
    # not break it.
    set(flag "")
    if(KIND STREQUAL "static" AND standard EQUAL 20)
      set(flag "--static")
    endif()
    build(${standard} weir "${CMAKE_CURRENT_LIST_DIR}/consumer.cc"
      consumer${standard} ${flag})
    if(REDIS)
      build(${standard} weir_redis "${SOURCE}/docs/examples/fleet.cc"
        fleet${standard} ${flag})
    endif()
  endforeach()
  if(LIMITS_JSON)
    build(17 weir_limits_json
      "${CMAKE_CURRENT_LIST_DIR}/limits_json/reader.cc" reader)
  endif()
else()
  # CMakeCache.txt of an earlier run could hide a package that is gone.
  file(REMOVE "${WORK}/CMakeCache.txt")
  set(targets "")
  set(options "")
  if(WAY STREQUAL "add_subdirectory")
    set(targets --target consumers)
    # What many projects that take weir in say of all of their targets.
    set(options -DCMAKE_CXX_VISIBILITY_PRESET=hidden
      -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON)
  endif()
  run(${configure} -S "${project}" -B "${WORK}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
    "-DWEIR_SOURCE_DIR=${SOURCE}" -DBUILD_SHARED_LIBS=${shared} ${options})
  run("${CMAKE_COMMAND}" --build "${WORK}" ${targets})
endif()

# Installs weir, of the KIND static or shared, into WORK/prefix.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${WORK}/installed" "${WORK}/prefix")
set(build "${BUILD}")
if(NOT KIND STREQUAL OWN)
  set(build "${WORK}/build")
  set(shared OFF)
  if(KIND STREQUAL "shared")
    set(shared ON)
  endif()
  run(${configure} -S "${SOURCE}" -B "${build}" -DBUILD_SHARED_LIBS=${shared}
    -DWEIR_BUILD_CLI=${CLI} -DWEIR_BUILD_KIT=ON -DWEIR_BUILD_TESTS=OFF)
  run("${CMAKE_COMMAND}" --build "${build}")
endif()
run("${CMAKE_COMMAND}" --install "${build}" --prefix "${WORK}/installed")
# A copy works wherever it is moved.
file(RENAME "${WORK}/installed" "${WORK}/prefix")

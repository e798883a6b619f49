# What is installed: the library, its public headers, the files with which
# CMake and pkg-config find it, the license, and, where they are built, the
# executable and the conformance kit. Nothing private, no other part of the tests.

include(CMakePackageConfigHelpers)
include(WeirPkgConfig)

get_target_property(_weir_type weir TYPE)
set(_weir_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weir")

# weir_find_beside(TARGET DIR): what is installed in DIR finds the shared
# libraries of this copy, wherever that is moved. What a packager says instead,
# with CMAKE_INSTALL_RPATH or CMAKE_SKIP_INSTALL_RPATH, holds.
function(weir_find_beside target dir)
  if(DEFINED CMAKE_INSTALL_RPATH OR
     NOT CMAKE_SYSTEM_NAME MATCHES "Linux|BSD|Darwin")
    return()
  endif()
  file(RELATIVE_PATH way "${dir}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(path "$ORIGIN")
  if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
    set(path "@loader_path")
  endif()
  if(way)
    string(APPEND path "/${way}")
  endif()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${path}")
endfunction()

foreach(_weir_target weir weir_redis)
  if(TARGET ${_weir_target})
    weir_find_beside(${_weir_target} "${CMAKE_INSTALL_FULL_LIBDIR}")
  endif()
endforeach()
if(TARGET weir_cli AND BUILD_SHARED_LIBS)
  weir_find_beside(weir_cli "${CMAKE_INSTALL_FULL_BINDIR}")
endif()

install(TARGETS weir EXPORT weirTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT weirTargets NAMESPACE weir:: DESTINATION "${_weir_cmake_dir}")

set(_weir_public core/include backends/memory/include)
# A library that comes where it was built, with the headers of DIR/include.
macro(weir_install_part target export dir)
  if(TARGET ${target})
    install(TARGETS ${target} EXPORT ${export}
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
      LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT ${export} NAMESPACE weir::
      DESTINATION "${_weir_cmake_dir}")
    list(APPEND _weir_public ${dir}/include)
  endif()
endmacro()
weir_install_part(weir_redis weirRedisTargets backends/redis)
if(TARGET weir_redis)
  install(FILES
    "${PROJECT_SOURCE_DIR}/core/cmake/FindHiredis.cmake"
    "${PROJECT_SOURCE_DIR}/core/cmake/WeirEmbedScript.cmake"
    DESTINATION "${_weir_cmake_dir}")
endif()
weir_install_part(weir_testing weirTestingTargets tests/kit)
weir_install_part(weir_limits_json weirLimitsJsonTargets tools/limits_json)
foreach(_weir_dir IN LISTS _weir_public)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${_weir_dir}/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
endforeach()

configure_package_config_file("${PROJECT_SOURCE_DIR}/core/cmake/weirConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/generated/weirConfig.cmake"
  INSTALL_DESTINATION "${_weir_cmake_dir}")
# Before 1.0 a new minor version may change anything.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/generated/weirConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/generated/weirConfig.cmake"
  "${PROJECT_BINARY_DIR}/generated/weirConfigVersion.cmake"
  DESTINATION "${_weir_cmake_dir}")

weir_write_pc(weir "${PROJECT_DESCRIPTION}")
if(TARGET weir_redis)
  weir_write_pc(weir_redis "weir's limits on Redis" weir)
endif()
if(TARGET weir_limits_json)
  weir_write_pc(weir_limits_json "weir's limits out of JSON" weir)
endif()

# Where weir is taken in, CMAKE_INSTALL_DOCDIR is its user's.
set(_weir_doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/weir")
if(WEIR_TOP_LEVEL)
  set(_weir_doc_dir "${CMAKE_INSTALL_DOCDIR}")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${_weir_doc_dir}")

if(TARGET weir_cli)
  install(TARGETS weir_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

# An instrumented library would ask the same of its consumers.
if(WEIR_BUILD_TESTS AND NOT WEIR_SANITIZE)
  add_subdirectory(tests/package)
endif()

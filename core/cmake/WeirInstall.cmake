# What is installed: the library, its public headers, the files with which
# CMake and pkg-config find it, the license, and, where they are built, the
# executable and the conformance kit. Nothing private, no other part of the tests.

include(CMakePackageConfigHelpers)

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

# weir.pc says where it is by its own place, so that an installed copy can be
# moved, and takes what it requires from the target.
function(weir_pc_modules property out)
  get_target_property(libs weir ${property})
  set(modules "")
  foreach(lib IN LISTS libs)
    # Not $<LINK_ONLY:...>, which the interface of an archive has.
    if(lib MATCHES "^absl::([a-z0-9_]+)$")
      list(APPEND modules "absl_${CMAKE_MATCH_1}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES modules)
  set(${out} "${modules}" PARENT_SCOPE)
endfunction()

function(weir_write_pc)
  weir_pc_modules(LINK_LIBRARIES all)
  get_target_property(type weir TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    # Inline functions of the public headers call Abseil from the user's code.
    weir_pc_modules(INTERFACE_LINK_LIBRARIES public)
    set(private "${all}")
    list(REMOVE_ITEM private ${public})
  else()
    # So that a plain `pkg-config --libs weir` links an archive as well.
    set(public "${all}")
    set(private "")
  endif()
  string(REPLACE ";" ", " weir_pc_requires "${public}")
  string(REPLACE ";" ", " weir_pc_requires_private "${private}")

  set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  if(IS_ABSOLUTE "${pc_dir}")
    set(weir_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  else()
    file(RELATIVE_PATH up "/${pc_dir}" "/")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(weir_pc_prefix "\${pcfiledir}/${up}")
  endif()
  foreach(dir libdir includedir)
    string(TOUPPER "CMAKE_INSTALL_${dir}" variable)
    if(IS_ABSOLUTE "${${variable}}")
      set(weir_pc_${dir} "${${variable}}")
    else()
      set(weir_pc_${dir} "\${prefix}/${${variable}}")
    endif()
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/core/cmake/weir.pc.in"
    "${PROJECT_BINARY_DIR}/generated/weir.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/generated/weir.pc"
    DESTINATION "${pc_dir}")
endfunction()
weir_write_pc()

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

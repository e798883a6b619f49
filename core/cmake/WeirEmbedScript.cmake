# The Lua half of an engine of one's own, as a constant of the program:
#
#   weir_embed_script(my_target quiet_time.lua)
#
# gives my_target a header "quiet_time.lua.h" with the text of the file,
#
#   inline constexpr char kQuietTimeLua[] = ...
#
# for weir::RedisStoreOptions::engines. Made anew when the file changes.

function(weir_embed_script target file)
  get_filename_component(path "${file}" ABSOLUTE)
  get_filename_component(name "${file}" NAME)
  if(NOT EXISTS "${path}")
    message(FATAL_ERROR "weir_embed_script: ${path} does not exist")
  endif()
  string(REGEX REPLACE "\\.lua$" "" stem "${name}")
  if(NOT stem MATCHES "^[a-z][a-z0-9_]*$" OR stem STREQUAL name)
    message(FATAL_ERROR
      "weir_embed_script: ${name}; allowed: the engine's name, then .lua")
  endif()
  file(READ "${path}" text)
  string(FIND "${text}" ")lua\"" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "weir_embed_script: ${path} contains )lua\", which "
                        "would end the constant")
  endif()

  # quiet_time -> QuietTime
  set(camel "")
  string(REPLACE "_" ";" words "${stem}")
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 first)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND camel "${first}${rest}")
  endforeach()
  string(TOUPPER "WEIR_EMBEDDED_${stem}_LUA_H_" guard)

  set(dir "${CMAKE_CURRENT_BINARY_DIR}/weir_scripts/${target}")
  file(WRITE "${dir}/made/${name}.h"
"// Made from ${name}.
#ifndef ${guard}
#define ${guard}

inline constexpr char k${camel}Lua[] = R\"lua(${text})lua\";

#endif  // ${guard}
")
  # Touched only if it is another text, so that nothing is built in vain.
  configure_file("${dir}/made/${name}.h" "${dir}/${name}.h" COPYONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  target_include_directories(${target} PRIVATE "${dir}")
endfunction()

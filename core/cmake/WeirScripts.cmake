# The scripts of the Redis store, composed and with their SHA-1. One text for
# each Lua half (lua/NAME.lua, after what its line "-- Check:" names), and one
# with all of them, for calls of several rules:
#
#   head.lua [..._check.lua] the prelude, engines[i] = NAME.lua ..., run.lua
#
# weir_write_scripts(OUT): writes the header OUT.

set(WEIR_LUA_PRELUDE math record word_view log_view list_log)

# weir_read_lua(NAME OUT): a part, and configures anew when it changes.
function(weir_read_lua name out)
  set(path "${PROJECT_SOURCE_DIR}/lua/${name}.lua")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  file(READ "${path}" text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# weir_script(NAME TEXT OUT): a weir::redis::Script as C++. The text alone goes
# to generated/lua, for those who call scripts by hand.
function(weir_script name text out)
  string(SHA1 sha "${text}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/lua/${name}.lua"
    CONTENT "${text}" @ONLY)
  set(${out} "{\"${name}\", R\"lua(${text})lua\",\n \"${sha}\"}" PARENT_SCOPE)
endfunction()

function(weir_write_scripts out)
  weir_read_lua(head head)
  weir_read_lua(run run)
  set(prelude "")
  foreach(part IN LISTS WEIR_LUA_PRELUDE)
    weir_read_lua(${part} text)
    string(APPEND prelude "${text}")
  endforeach()
  string(APPEND prelude "local engines = {}\n")

  set(names "")
  set(pairs "")
  foreach(pair IN LISTS WEIR_ENGINE_SCRIPTS)
    string(REGEX MATCH "^([^=]*)=(.*)$" _ "${pair}")
    set(engine "${CMAKE_MATCH_1}")
    set(script "${CMAKE_MATCH_2}")
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/lua/${script}.lua")
      message(FATAL_ERROR
        "engine ${engine} has no Lua half: core/engines/list.txt names it, but "
        "lua/${script}.lua is missing")
    endif()
    if(NOT script IN_LIST names)
      list(APPEND names "${script}")
    endif()
    list(FIND names "${script}" index)
    string(APPEND pairs "    {\"${engine}\", ${index}},\n")
  endforeach()

  set(scripts "")
  set(all "${head}${prelude}")
  string(LENGTH "${all}" prelude_bytes)
  set(i 1)
  foreach(name IN LISTS names)
    weir_read_lua(${name} half)
    set(check "")
    if(half MATCHES "\n-- Check: +([a-z0-9_]+)\n")
      weir_read_lua(${CMAKE_MATCH_1} check)
    endif()
    weir_script(${name}
      "${head}${check}${prelude}engines[1] = function()\n${half}end\n${run}"
      script)
    string(APPEND scripts "    ${script},\n")
    string(APPEND all "engines[${i}] = function()\n${half}end\n")
    math(EXPR i "${i} + 1")
  endforeach()
  string(LENGTH "${all}" run_at)
  weir_script(several "${all}${run}" several)

  file(CONFIGURE OUTPUT "${out}" CONTENT
"// Made from lua/.
#ifndef WEIR_ENGINE_SCRIPTS_H_
#define WEIR_ENGINE_SCRIPTS_H_

#include <cstddef>
#include <string_view>

#include \"backends/redis/call.h\"

namespace weir::redis {

// For a call of one rule: one for each Lua half.
inline constexpr Script kEngineScripts[] = {
${scripts}};
// For a call of several rules; its engines are those above, in their order.
inline constexpr Script kSeveralScript =
    ${several};
// Where its prelude ends, and where what runs the call begins.
inline constexpr size_t kPreludeBytes = ${prelude_bytes};
inline constexpr size_t kRunAt = ${run_at};

struct EngineScriptIndex {
  std::string_view algorithm;
  size_t index;
};
inline constexpr EngineScriptIndex kScriptOfEngine[] = {
${pairs}};

}  // namespace weir::redis

#endif  // WEIR_ENGINE_SCRIPTS_H_
" @ONLY)
endfunction()

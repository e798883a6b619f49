# weir::weir runs nothing before main, starts no thread and knows nothing of
# hiredis: reads the object files of the archive LIBRARY.
cmake_minimum_required(VERSION 3.16)
function(read_lines out)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed: ${errors}")
  endif()
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

# A header of Abseil's (status.h) includes <iostream>, which makes the standard
# streams ready. Nothing else may be in the functions that run before main.
read_lines(relocations "${OBJDUMP}" -r -C "${LIBRARY}")
if(NOT relocations MATCHES "RECORDS FOR \\[\\.text")
  message(FATAL_ERROR "objdump read no section of ${LIBRARY}")
endif()
string(REPLACE ";" " " relocations "${relocations}")
string(REPLACE "\n" ";" lines "${relocations}")
set(object "")
set(section "")
set(guilty "")
foreach(line IN LISTS lines)
  if(line MATCHES "^(.*):  +file format")
    set(object "${CMAKE_MATCH_1}")
  elseif(line MATCHES "^RELOCATION RECORDS FOR .(.*).:")
    set(section "${CMAKE_MATCH_1}")
  elseif(line MATCHES "^[0-9a-f]+ +R_[^ ]+ +(.*)")
    set(what "${CMAKE_MATCH_1}")
    if(section MATCHES "^\\.(init_array|ctors|preinit_array)"
       AND NOT what MATCHES "^\\.text\\.startup")
      list(APPEND guilty "${object}: ${what}")
    elseif(section MATCHES "^\\.text\\.startup" AND NOT what MATCHES
        "^(\\.bss|std::ios_base::Init::~?Init\\(\\)|__dso_handle|__cxa_atexit)[+-]")
      list(APPEND guilty "${object}: ${what}")
    endif()
  endif()
endforeach()
if(guilty)
  list(JOIN guilty "\n  " guilty)
  message(FATAL_ERROR "weir runs code before main; it names:\n  ${guilty}")
endif()

read_lines(symbols "${NM}" -C --undefined-only "${LIBRARY}")
if(NOT symbols MATCHES "absl::")
  message(FATAL_ERROR "nm read no symbol of ${LIBRARY}")
endif()
string(REGEX MATCHALL
  "[^\n]*( pthread_create| thrd_create|std::thread::|std::jthread)[^\n]*"
  threads "${symbols}")
if(threads)
  message(FATAL_ERROR "weir starts threads: ${threads}")
endif()
string(REGEX MATCHALL "[^\n]* (redis[A-Z]|sds[a-z]|freeReply)[^\n]*" redis
       "${symbols}")
if(redis)
  message(FATAL_ERROR "weir::weir calls hiredis: ${redis}")
endif()

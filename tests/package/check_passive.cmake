# weir::weir runs nothing before main, starts no thread and knows nothing of
# hiredis: reads the object files of the archive LIBRARY.
function(read_lines out)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed: ${errors}")
  endif()
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

read_lines(sections "${OBJDUMP}" -h "${LIBRARY}")
if(NOT sections MATCHES "\\.text")
  message(FATAL_ERROR "objdump read no section of ${LIBRARY}")
endif()
string(REGEX MATCHALL "[^\n]*\\.(init_array|ctors|preinit_array)[^\n]*" before_main
       "${sections}")
if(before_main)
  message(FATAL_ERROR "weir has dynamic initialisers:\n${before_main}\n"
    "objdump -h ${LIBRARY} names the object files")
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

# find_package(ripc) finds the compiler and defines
#
#   ripc_add_network(NAME MODEL file [TARGET target] [KIND a|so|c] [DEPENDS files...] [OPTIONS options of ripc compile...])
#
# which makes a library target NAME of a model, built when something links to it: its functions are NAME_run and so on, its header
# is NAME.h. TARGET is one of `ripc targets`, by default host; when cross-compiling it must be given. KIND a is a static library
# of LLVM's code, so a shared one, and c is C source that this project's compiler builds. Weights beside the model
# (MODEL's name with .safetensors, or with .data behind it) are found; name other files that the result depends on with DEPENDS.
get_filename_component(_ripc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(RIPC_EXECUTABLE ripc HINTS "${_ripc_prefix}/bin" NO_CMAKE_FIND_ROOT_PATH DOC "the compiler ripc")
if(NOT RIPC_EXECUTABLE)
  set(ripc_FOUND FALSE)
  set(ripc_NOT_FOUND_MESSAGE "no program ripc in ${_ripc_prefix}/bin or PATH; set RIPC_EXECUTABLE")
  return()
endif()

function(ripc_add_network name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;TARGET;KIND" "DEPENDS;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_MODEL)
    message(FATAL_ERROR "ripc_add_network(${name}): want MODEL file, and then TARGET, KIND, DEPENDS or OPTIONS; there is ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_KIND)
    set(arg_KIND a)
  endif()
  if(NOT arg_KIND MATCHES "^(a|so|c)$")
    message(FATAL_ERROR "ripc_add_network(${name}): KIND is a, so or c, not ${arg_KIND}")
  endif()
  if(NOT arg_TARGET)
    if(CMAKE_CROSSCOMPILING)
      message(FATAL_ERROR "ripc_add_network(${name}): this project is for another machine; name it by TARGET (ripc targets lists them)")
    endif()
    set(arg_TARGET host)
  endif()
  get_filename_component(model "${arg_MODEL}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(folder "${model}" DIRECTORY)
  get_filename_component(stem "${model}" NAME_WLE)
  set(inputs "${model}" "${RIPC_EXECUTABLE}" ${arg_DEPENDS})
  foreach(weights "${folder}/${stem}.safetensors" "${model}.data")
    if(EXISTS "${weights}")
      list(APPEND inputs "${weights}")
    endif()
  endforeach()

  set(out "${CMAKE_CURRENT_BINARY_DIR}/ripc/${name}")
  file(MAKE_DIRECTORY "${out}")
  set(file "${out}/${name}.${arg_KIND}")
  add_custom_command(
    OUTPUT "${file}" "${out}/${name}.h"
    COMMAND "${RIPC_EXECUTABLE}" compile "${model}" --name "${name}" --target "${arg_TARGET}" --emit "${arg_KIND},h" -o "${out}/${name}" ${arg_OPTIONS}
    DEPENDS ${inputs}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "ripc compile ${arg_MODEL} for ${arg_TARGET}"
    VERBATIM)
  if(arg_KIND STREQUAL c)
    add_library(${name} STATIC "${file}" "${out}/${name}.h")
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${name} PUBLIC "${out}")
    return()
  endif()
  add_custom_target(${name}_files DEPENDS "${file}" "${out}/${name}.h")
  if(arg_KIND STREQUAL so)
    add_library(${name} SHARED IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_SONAME "${name}.so")
  else()
    add_library(${name} STATIC IMPORTED GLOBAL)
  endif()
  add_dependencies(${name} ${name}_files)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${file}" INTERFACE_INCLUDE_DIRECTORIES "${out}")
endfunction()

# The version, as version.c in the build folder, looked up at each build: of the git tag (0.2.0; five
# commits later 0.2.0-5-gab12cd3); in an archive that git made, of the tag that git wrote into
# scripts/packaging/version.txt; else PROJECT_VERSION and "-dev". TAFFRAIL_VERSION, where it is set, is the version.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(TAFFRAIL_VERSION "" CACHE STRING "The version; empty: ask git")
  set(version_c ${CMAKE_BINARY_DIR}/version.c)
  add_custom_target(taffrail_version BYPRODUCTS ${version_c}
    COMMAND ${CMAKE_COMMAND} -D source=${CMAKE_SOURCE_DIR} -D next=${PROJECT_VERSION}
      -D given=${TAFFRAIL_VERSION} -D out=${version_c} -P ${CMAKE_SOURCE_DIR}/base/version.cmake)
  target_sources(taffrail_base PRIVATE ${version_c})
  add_dependencies(taffrail_base taffrail_version)
  return()
endif()

cmake_minimum_required(VERSION 3.25)
set(described "")
set(commit "")
if(EXISTS ${source}/.git)
  execute_process(COMMAND git -C ${source} describe --tags --match v[0-9]* --dirty
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${source} rev-parse --short=7 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
elseif(EXISTS ${source}/scripts/packaging/version.txt)
  file(READ ${source}/scripts/packaging/version.txt described)
  string(STRIP "${described}" described)
endif()

if(NOT given STREQUAL "")
  set(version ${given})
elseif(described MATCHES "^v([0-9].*)$")
  set(version ${CMAKE_MATCH_1})
elseif(NOT commit STREQUAL "")
  set(version ${next}-dev-g${commit})
else()
  set(version ${next}-dev)
endif()
string(REGEX REPLACE "^v" "" version "${version}")
file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "#include \"base/version.h\"

const char *const taffrail_version = \"@version@\";
const char *const taffrail_user_agent = \"taffrail/@version@\";
")

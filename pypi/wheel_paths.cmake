# Repair the CMake exports of the ROS wheels while a package is configured against them.
#
# Some exported targets of the wheels (the *__rosidl_generator_py ones) name the Python headers of the
# machine that built the wheels, below /opt/python. CMake refuses include directories that do not
# exist. This file runs right after project() by -DCMAKE_PROJECT_INCLUDE=<this file> and, once the
# package's own CMakeLists.txt has been read, takes those entries out again, so that wheels and
# packages both stay as they are. Needs CMake 3.21.

function(urlab_drop_builder_includes)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(includes MATCHES "/opt/python/")
      list(FILTER includes EXCLUDE REGEX "^/opt/python/")
      set_property(TARGET ${target} PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${includes}")
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL urlab_drop_builder_includes)
set(URLAB_PYPI_DIR "${CMAKE_CURRENT_LIST_DIR}")
include("${CMAKE_CURRENT_LIST_DIR}/python_only.cmake")

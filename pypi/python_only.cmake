# Build interface packages for what uses them here: Python with rmw_fastrtps_cpp, the only middleware
# that comes as a wheel. It converts by one type support and describes types to others by that for
# introspection. Without this file every package gets its types in C++ too, and twice the extensions
# for Python, and compiles some 300 files each on its own.
#
# Each generator registers an extension that `rosidl_generate_interfaces` runs later; packages of field
# types register theirs again. So all this is done anew after every find_package().

macro(find_package)
  _find_package(${ARGV})
  list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX
    "^rosidl_(generator|typesupport|typesupport_fastrtps|typesupport_introspection)_cpp:")
  foreach(_urlab_generator generator_c generator_py generator_type_description typesupport_c
      typesupport_fastrtps_c typesupport_introspection_c)
    set(_urlab_bin ${rosidl_${_urlab_generator}_BIN})
    list(LENGTH _urlab_bin _urlab_words)
    if(_urlab_words EQUAL 1)
      # These variables are arguments of Python and, as a list, dependencies of what it generates.
      list(PREPEND rosidl_${_urlab_generator}_BIN "${URLAB_PYPI_DIR}/generate.py")
    endif()
  endforeach()
  # Of the Python extensions rclpy loads this one alone.
  macro(rosidl_generator_py_get_typesupports _urlab_result)
    _find_package(rosidl_typesupport_c REQUIRED)
    set(${_urlab_result} rosidl_typesupport_c)
  endmacro()
endmacro()

# Many small files with the same large headers: compiled in groups.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

function(urlab_compile_descriptions_alone)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    # Each defines the names of the field types it refers to.
    list(FILTER sources INCLUDE REGEX "__description\\.c$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

cmake_language(DEFER CALL urlab_compile_descriptions_alone)

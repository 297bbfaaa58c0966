# Build interface packages for Python alone, which is all that uses them here: in half of the time.
# Without this file every package gets its types in C++ too, three times.
#
# Each generator registers an extension that `rosidl_generate_interfaces` runs later; packages of field
# types register theirs again. So after every find_package() those of C++ are taken out.

macro(find_package)
  _find_package(${ARGV})
  list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX
    "^rosidl_(generator|typesupport|typesupport_fastrtps|typesupport_introspection)_cpp:")
endmacro()

# A program that runs where Debian's libraries are not installed (scripts/release): static libraries before
# shared ones, and a DT_RPATH for those that have no static form. A DT_RUNPATH would not reach what these
# need themselves. The C library stays the machine's own: it loads name services of its own version.
list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(PKG_CONFIG_ARGN --static)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/lib")
add_link_options(-Wl,--disable-new-dtags,--build-id=sha1)
# gcc looks into the folders of the machine before those of the sysroot, unless it is told of these.
add_link_options(-B${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/)
# Where it was built is not in it.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build
  -ffile-prefix-map=${CMAKE_SYSROOT}=)
# The .pc files of Debian's libldap, libssh2 and libbrotlidec leave these out, and name others in no
# order that a linker could follow once.
set(CMAKE_C_STANDARD_LIBRARIES "-lsasl2 -lcrypto -l:libbrotlicommon.a")
string(REPLACE "<LINK_LIBRARIES>" "-Wl,--start-group <LINK_LIBRARIES> -Wl,--end-group"
  CMAKE_C_LINK_EXECUTABLE "${CMAKE_C_LINK_EXECUTABLE}")

# Headers, libraries, the CMake package with its components, and pkg-config files.

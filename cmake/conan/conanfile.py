"""Ingot for conan 2, from a checkout or an unpacked source tarball: conan create cmake/conan --build=missing

The libraries that it needs come from ConanCenter. With -o '&:system_libraries=True', they are the system's own, and
CMake names the Debian packages that are missing.
"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load


class Ingot(ConanFile):
    name = "ingot"
    license = "MIT"
    package_type = "shared-library"
    languages = "C"
    settings = "os", "arch", "compiler", "build_type"
    options = {"system_libraries": [True, False], "level_zero": [True, False]}
    default_options = {"system_libraries": False, "level_zero": False, "opencl-icd-loader/*:shared": True,
                       "libcurl/*:shared": True}
    root = os.path.join(os.path.dirname(__file__), "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self.root, "include/ingot/ingot.h"))
        self.version = ".".join(re.findall(r"^#define INGOT_VERSION_[A-Z]+ (\d+)", header, re.MULTILINE))

    def export_sources(self):
        for files in ("CMakeLists.txt", "LICENSE", "*.md", "cmake/*", "doc/*", "examples/*", "include/*", "src/*",
                      "tests/conformance/*", "tests/support/*"):
            copy(self, files, self.root, self.export_sources_folder, excludes="build/*")

    def requirements(self):
        if not self.options.system_libraries:
            for library in ("libsodium/[>=1.0.18 <2]", "zstd/[>=1.4.8 <2]", "xxhash/[>=0.8 <1]", "cjson/[>=1.7.14 <2]",
                            "hiredis/[>=0.14.1 <2]", "libcurl/[>=7.74 <9]"):
                self.requires(library)
            self.requires("opencl-icd-loader/[>=2021.04.29]", transitive_headers=True, transitive_libs=True)
            if self.options.level_zero:
                self.requires("level-zero/[>=1.8 <2]", transitive_headers=True, transitive_libs=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            "INGOT_BUILD_STATIC": False, "INGOT_BUILD_TESTS": False, "INGOT_BUILD_EXAMPLES": False, "INGOT_CLI": "ON",
            "INGOT_REMOTE": "ON", "INGOT_BACKEND_OPENCL": "ON", "INGOT_BACKEND_CUDA": "OFF",
            "INGOT_BACKEND_LEVEL_ZERO": "ON" if self.options.level_zero else "OFF"})
        toolchain.generate()

    def build(self):
        CMake(self).configure()
        CMake(self).build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["ingot-cache"]
        self.cpp_info.builddirs = ["lib/cmake/ingot"]
        self.cpp_info.set_property("cmake_find_mode", "none")  # find_package(ingot) finds the files of builddirs
        self.cpp_info.set_property("pkg_config_name", "ingot-cache")

from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout


class IngotTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain"

    def layout(self):
        cmake_layout(self, build_folder="../../../build/conan")

    def requirements(self):
        self.requires(self.tested_reference_str)

    def build(self):
        CMake(self).configure()
        CMake(self).build()

    def test(self):
        self.run("ingot --version", env="conanrun")
        self.run(f"{self.cpp.build.bindir}/quickstart store || test $? = 2", env="conanrun")  # 2: without a device

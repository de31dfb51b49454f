/*
 * opencl_identity_test.cpp - tests each property of platform, device, driver and compiler that is in the id.
 *
 * A test copies the real driver and changes a word or the build-id in the copy. A new process then finds a driver with
 * one changed property, so no other field of the id may differ.
 */
#include <sys/stat.h>

#include "conformance/children.h"
#include "support/elf_build_id.h"
#include "support/opencl_driver_copy.h"
#include "support/opencl_platform.h"

using namespace conformance;

/* ---- copies of drivers and libraries for a separate process ---- */

/* Returns the absolute path for a path in the working directory. */
static std::string absolute(const std::string &path)
{
    char directory[4096] = "";
    EXPECT_NE(nullptr, getcwd(directory, sizeof(directory)));
    return std::string(directory) + "/" + path;
}

/* Returns the file that contains a function of the driver. */
static std::string driver_path()
{
    return opencl_driver_path().string();
}

static std::string file_name(const std::string &path)
{
    return path.substr(path.find_last_of('/') + 1);
}

static std::string new_directory()
{
    static int count = 0;
    return "libraries-" + std::to_string(count++);
}

/* Returns environment variables with which a process uses this driver as its platform. */
static Environment with_driver(const Bytes &driver)
{
    const auto variables = opencl_driver_at(absolute(new_directory()), driver);
    return {variables.begin(), variables.end()};
}

/* Returns environment variables with which a process finds a copy of a library with another build-id. This process must
 * be able to load the library by its name. */
static Environment with_another_build_of(const std::string &name)
{
    return {{"LD_LIBRARY_PATH", path_with_another_build(name.c_str(), new_directory())}};
}

/* Returns environment variables for a process whose PoCL lies in `directory`, with its data in
 * `directory`/share/pocl. */
static Environment with_own_pocl(const std::string &directory)
{
    namespace fs = std::filesystem;
    const fs::path libraries = fs::path(directory) / "lib" / "here";
    const fs::path original = fs::path(driver_path()).parent_path();
    fs::create_directories(libraries);
    fs::create_directories(fs::path(directory) / "share");
    fs::copy_file(driver_path(), libraries / file_name(driver_path()));
    fs::create_directory_symlink(original / "pocl", libraries / "pocl");
    fs::copy("/usr/share/pocl", fs::path(directory) / "share" / "pocl", fs::copy_options::recursive);
    const std::string path = (libraries / file_name(driver_path())).string() + "\n";
    write_file((libraries / "driver.icd").string(), Bytes(path.begin(), path.end()));
    return {{"LD_LIBRARY_PATH", libraries.string()}, {"OCL_ICD_VENDORS", (libraries / "driver.icd").string()}};
}

/* ---- the tests ---- */

static OpenclPlatform &platform()
{
    return OpenclPlatform::get();
}

/* Returns the file name of the first loaded library whose file name begins with `beginning`. The rest of the name
 * depends on the release. */
static std::string name_of_loaded_library(const std::string &beginning)
{
    std::pair<const std::string &, std::string> search{beginning, ""};
    dl_iterate_phdr(
        [](dl_phdr_info *library, size_t, void *user) {
            auto *wanted = static_cast<std::pair<const std::string &, std::string> *>(user);
            if (file_name(library->dlpi_name).compare(0, wanted->first.size(), wanted->first) != 0)
                return 0;
            wanted->second = file_name(library->dlpi_name);
            return 1;
        },
        &search);
    return search.second;
}

static void replace_all(Bytes &bytes, const std::string &from, const std::string &to)
{
    ASSERT_EQ(from.size(), to.size());
    size_t count = 0;
    uint8_t *const end = bytes.data() + bytes.size();
    for (uint8_t *at = bytes.data(); /* std::search takes seconds for a driver, because tests are not optimized */
         (at = static_cast<uint8_t *>(memmem(at, static_cast<size_t>(end - at), from.data(), from.size()))) != nullptr;
         ++count)
        at = std::copy(to.begin(), to.end(), at);
    ASSERT_LT(0u, count) << from;
}

/* Returns the first three numbers of the driver's version. In Intel's driver, the rest is not stored in one piece with
 * them. */
static std::string driver_version()
{
    char text[256] = "";
    EXPECT_EQ(CL_SUCCESS,
              clGetDeviceInfo(platform().devices().front(), CL_DRIVER_VERSION, sizeof(text), text, nullptr));
    const std::string version = text;
    size_t end = version.find('.');
    for (int dots = 1; dots < 3 && end != std::string::npos; ++dots)
        end = version.find('.', end + 1);
    return version.substr(0, end);
}

static std::string fields_with_driver_word(const std::string &from, const std::string &to)
{
    Bytes driver = read_file(driver_path());
    replace_all(driver, from, to);
    return differing_fields(id_in_child({}), id_in_child(with_driver(driver)));
}

TEST(OpenclIdentity, IsTheSameForACopyOfTheDriver)
{
    EXPECT_EQ("", differing_fields(id_in_child({}), id_in_child(with_driver(read_file(driver_path())))));
}

TEST(OpenclIdentity, DiffersByPlatformName)
{
    /* The driver stores this part of the name in one piece. Ingot also recognizes platforms by their names, so a second
     * field changes. */
    EXPECT_EQ(platform().is_pocl() ? "device[0].platform_name device[0].device_library"
                                   : "device[0].platform_name device[0].environment",
              platform().is_pocl() ? fields_with_driver_word("puting Language", "puting language")
                                   : fields_with_driver_word("HD Graph", "HD graph"));
}

TEST(OpenclIdentity, DiffersByVersionsOfPlatformDeviceAndDriver)
{
    const bool pocl = platform().is_pocl();
    const std::string version = driver_version();
    const std::string another = version.substr(0, version.size() - 1) + static_cast<char>(version.back() ^ 1);
    EXPECT_EQ(pocl ? "device[0].platform_version device[0].driver_version" : "device[0].driver_version",
              fields_with_driver_word(version, another));
    EXPECT_EQ(pocl ? "device[0].device_version" : "device[0].platform_version device[0].device_version",
              pocl ? fields_with_driver_word(" HSTR: ", " hstr: ")
                   : fields_with_driver_word("OpenCL 3.0 ", "OpenCL 3.0_"));
}

TEST(OpenclIdentity, DiffersByDeviceName)
{
    const std::string fields =
        differing_fields(id_in_child({}), id_in_child(device_under_test().environment_of_another_device()));
    EXPECT_NE(std::string::npos, fields.find("device[0].device_name")) << fields;
    EXPECT_EQ(std::string::npos, fields.find("device[0].compiler")) << fields;
}

/* The list of extensions is longer than a field may be, so the id contains a digest of the list. Only Intel's driver is
 * tested: PoCL composes the list from its device libraries, whose contents are in the id, so no test can change the
 * list alone. */
TEST(OpenclIdentity, DiffersByDeviceExtensions)
{
    if (!platform().is_intel())
        GTEST_SKIP() << "this is about Intel's driver";
    EXPECT_EQ("device[0].extensions",
              fields_with_driver_word("cl_khr_byte_addressable_store", "cl_khr_byte_addressable_stor_"));
}

TEST(OpenclIdentity, DiffersByBuildOfTheDriver)
{
    Bytes driver = read_file(driver_path());
    ASSERT_TRUE(change_build_id(driver));
    EXPECT_EQ("device[0].compiler", differing_fields(id_in_child({}), id_in_child(with_driver(driver))));
}

TEST(OpenclIdentity, OfAnotherDriverRefusesTheBlob)
{
    Bytes driver = read_file(driver_path());
    ASSERT_TRUE(change_build_id(driver));
    const Bytes blob = blob_in_child({});
    EXPECT_EQ("INGOT_SUCCESS", status_in_child(blob, {}));
    EXPECT_EQ("INGOT_BLOB_STALE", status_in_child(blob, with_driver(driver)));
}

TEST(OpenclIdentity, DiffersByBuildOfTheCompilerLibrary)
{
    if (!platform().is_pocl()) { /* Intel's driver opens the library when it first compiles */
        ASSERT_NE(nullptr, dlopen("libigc.so.1", RTLD_LAZY | RTLD_LOCAL)) << dlerror();
    }
    const std::string name = name_of_loaded_library(platform().is_pocl() ? "libLLVM" : "libigc.so");
    EXPECT_EQ("device[0].compiler", differing_fields(id_in_child({}), id_in_child(with_another_build_of(name))));
}

/* PoCL puts its own headers before the text of each program, and links its device library into the program. */
TEST(OpenclIdentity, DiffersByPoclsDeviceLibrary)
{
    if (!platform().is_pocl())
        GTEST_SKIP() << "this is about PoCL";
    const std::string directory = absolute("own-pocl");
    const Environment environment = with_own_pocl(directory);
    const Bytes id = id_in_child(environment);
    EXPECT_EQ("", differing_fields(id_in_child({}), id)) << "where it lies is not in the id";
    for (const std::string extension : {".bc", ".h"}) {
        const std::filesystem::path data = directory + "/share/pocl", before = directory + "/before";
        std::filesystem::copy(data, before, std::filesystem::copy_options::recursive);
        for (const auto &file : std::filesystem::recursive_directory_iterator(data))
            if (file.path().extension() == extension) /* one of these files is for this device */
                std::ofstream(file.path(), std::ios::app) << "\n";
        EXPECT_NE("", differing_fields(id, id_in_child(environment))) << extension;
        std::filesystem::remove_all(data);
        std::filesystem::rename(before, data);
    }
    EXPECT_EQ(id, id_in_child(environment));
}

TEST(OpenclIdentity, IsTheSameForLibrariesThatGenerateNoCode)
{
    size_t count = 0;
    const Bytes id = id_in_child({});
    for (const char *name : {"libz.so.1", "libxml2.so.2", "libxml2.so.16", "libedit.so.2", "libudev.so.1",
                             "libicuuc.so.72", "libicuuc.so.74", "libicuuc.so.76"}) {
        void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
        if (library == nullptr)
            continue;
        dlclose(library);
        ++count;
        EXPECT_EQ("", differing_fields(id, id_in_child(with_another_build_of(name)))) << name;
    }
    EXPECT_LE(3u, count) << "libraries that this system has";
}

TEST(OpenclIdentity, DiffersByVariablesThatSelectCode)
{
    const Environment variable =
        platform().is_pocl() ? Environment{{"POCL_WORK_GROUP_METHOD", "loopvec"}} : Environment{{"IGC_EnableGVN", "0"}};
    const Environment other = {{"POCL_WORK_GROUP_METHOD", "loops"}, {"IGC_EnableGVN", "1"}};
    EXPECT_EQ("device[0].environment", differing_fields(id_in_child(other), id_in_child(variable)));
}

TEST(OpenclIdentity, IsTheSameWhereverTheDriverKeepsItsCache)
{
    EXPECT_EQ(id_in_child({}),
              id_in_child({{"POCL_CACHE_DIR", absolute("elsewhere")}, {"NEO_CACHE_DIR", absolute("elsewhere")}}));
}

TEST(OpenclWarmStart, NeedsNoCompilerButAColdOneDoes)
{
    if (platform().is_pocl()) {
        EXPECT_EQ("built 42 helped", cold_in_child({{"POCL_CACHE_DIR", absolute("cold")}}));
        for (const std::string name : {"warm", "second"}) { /* a second blob has the code of later launches, too */
            EXPECT_EQ(0, mkdir(name.c_str(), 0700));
            const Bytes blob = blob_in_child({{"POCL_CACHE_DIR", absolute("before-" + name)}}, name == "second");
            EXPECT_EQ("loaded 42 alone", warm_in_child(blob, {{"POCL_CACHE_DIR", absolute(name)}}));
        }
    } else {
        EXPECT_EQ("loaded alone", warm_in_child(blob_in_child({}), {}));
    }
}

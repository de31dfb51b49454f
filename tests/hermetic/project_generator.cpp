/*
 * project_generator.cpp - generates projects with every kind of include: nested folders, equal names, guards,
 * conditions, computed names, odd spellings.
 *
 * The kernel mixes a value from every included statement into one number, so that its machine code shows which texts
 * were read, how often, and in which order. Headers that have only directives define macros, which the kernel mixes in
 * at its end.
 */
#include <algorithm>

#include "hermetic/project.h"
#include "hermetic/random.h"

namespace hermetic
{

namespace
{

struct File {
    std::string folder; /* "" is the current directory */
    std::string name;
    bool has_statements = false;
    bool is_guarded = false;
    std::string path() const { return folder.empty() ? name : folder + "/" + name; }
};

/* Returns the path from the folder `from` to a file, such as "../b/x.h". */
std::string relative(const std::string &from, const std::string &path)
{
    std::string up;
    std::string base = from;
    while (!base.empty() && path.compare(0, base.size() + 1, base + "/") != 0) {
        const size_t slash = base.rfind('/');
        base = slash == std::string::npos ? "" : base.substr(0, slash);
        up += "../";
    }
    return up + (base.empty() ? path : path.substr(base.size() + 1));
}

class Generator
{
public:
    Generator(uint64_t seed, uint64_t index, bool is_cuda) : random_(seed, index), is_cuda_(is_cuda) {}

    Project make()
    {
        Project project;
        choose_files();
        choose_directories();
        for (size_t i = 0; i < files_.size(); ++i)
            project.files[files_[i].path()] = with_line_ends(text_of(i));
        project.source = source();
        project.options = options();
        return project;
    }

private:
    std::string number(size_t bound = 1000) { return std::to_string(random_.below(bound)); }

    void choose_files()
    {
        const std::vector<std::string> folders = {"", "a", "a/b", "inc", "inc/a", "inc/deep/er", "lib"};
        const std::vector<std::string> names = {"x.h", "y.h", "common.h", "cfg.h", "z.inc", "x-y.h"};
        const size_t count = 2 + random_.below(7);
        while (files_.size() < count) {
            File file{random_.of(folders), random_.of(names), random_.percent(65), random_.percent(60)};
            const auto is_same = [&](const File &other) { return other.path() == file.path(); };
            if (std::none_of(files_.begin(), files_.end(), is_same))
                files_.push_back(file);
        }
    }

    void choose_directories()
    {
        for (const File &file : files_)
            if (random_.percent(45) && !file.folder.empty())
                directories_.push_back(file.folder);
        if (random_.percent(40))
            directories_.insert(directories_.begin() + static_cast<long>(random_.below(directories_.size() + 1)), ".");
        if (random_.percent(20) && !directories_.empty())
            directories_.push_back(directories_[0]);
    }

    /* ---- spelling ---- */

    std::string space()
    {
        const std::vector<std::string> spaces = {" ", "\t", "  ", " /* c */ ", "/**/", " \\\n ", "/* two\nlines */"};
        return random_.percent(70) ? " " : random_.of(spaces);
    }
    std::string maybe_space() { return random_.percent(80) ? "" : space(); }

    std::string line_end()
    {
        const std::vector<std::string> ends = {
            " // c", " /* c */", " ", "\t", " // #include \"x.h\"", " /* #include \"x.h\"\n#include <y.h>\n*/", "\\\n"};
        return random_.percent(80) ? "\n" : random_.of(ends) + "\n";
    }

    std::string directive(std::string name, const std::string &rest)
    {
        if (random_.percent(5) && name.size() > 1)
            name.insert(1 + random_.below(name.size() - 1), "\\\n");
        const std::string hash = random_.percent(3) ? "%:" : "#";
        return maybe_space() + hash + maybe_space() + name + (rest.empty() ? "" : space() + rest) + line_end();
    }

    std::string with_line_ends(const std::string &text)
    {
        const size_t style = random_.below(20); /* 0 to 2: CR LF, 3: mixed */
        std::string out;
        for (const char c : text) {
            if (c == '\n' && (style < 3 || (style == 3 && random_.percent(50))))
                out += '\r';
            out += c;
        }
        while (random_.percent(25) && !out.empty() && out.back() == '\n') {
            out.pop_back();
            if (!out.empty() && out.back() == '\r') /* Ingot refuses a text that ends with CR alone */
                out.pop_back();
        }
        return out;
    }

    /* ---- includes ---- */

    /* Returns "path" or <path>, by which a file in the folder `from` should find the target. */
    std::string spelled(const std::string &from, const File &target)
    {
        const std::string path = target.path();
        if (random_.percent(3))
            return random_.percent(50) ? "\"" + target.name + "\"" : "<" + target.name + ">";
        if (random_.percent(35) && !directories_.empty()) {
            std::string directory = random_.of(directories_);
            if (directory == ".")
                directory.clear();
            const std::string within = relative(directory, path);
            if (within.compare(0, 3, "../") != 0 || random_.percent(20))
                return random_.percent(50) ? "\"" + within + "\"" : "<" + within + ">";
        }
        return std::string("\"") + (random_.percent(8) ? "./" : "") + relative(from, path) + "\"";
    }

    std::string computed(const std::string &name)
    {
        const std::string macro = "PATH" + number(random_.percent(50) ? 4 : 1000);
        std::string text;
        if (random_.percent(60))
            text += directive("undef", macro);
        text += directive("define", macro + space() + name);
        if (random_.percent(30)) {
            text += directive("define", macro + "_AGAIN" + space() + macro);
            return text + directive("include", macro + "_AGAIN");
        }
        return text + directive("include", macro);
    }

    std::string include(size_t own, const std::string &folder, bool takes_statements)
    {
        std::vector<const File *> targets;
        for (size_t i = 0; i < files_.size(); ++i) {
            const bool is_later = own == files_.size() || i > own;
            if ((is_later || (files_[i].is_guarded && random_.percent(25))) &&
                (takes_statements || !files_[i].has_statements))
                targets.push_back(&files_[i]);
        }
        if (targets.empty())
            return "\n";
        const File &target = *random_.of(targets);
        const std::string name = spelled(folder, target);
        if (random_.percent(12))
            return computed(name);
        const size_t dot = name.rfind(".h");
        if (random_.percent(6) && dot != std::string::npos && name[0] == '"' && name.find('-') == std::string::npos)
            return directive("include", "STR(" + name.substr(1, name.size() - 2) + ")");
        return directive("include", name);
    }

    std::string never()
    {
        const std::vector<std::string> conditions = {"0", "defined(NEVER)", "!defined(INGOT_TEST)", "0 && 1"};
        const std::vector<std::string> includes = {"<stdint.h>",    "<stdio.h>",      "\"missing/file.h\"", "<vector>",
                                                   "MISSING_MACRO", "STR(missing.h)", "<missing.h>"};
        std::string text = random_.percent(50) ? directive("if", random_.of(conditions)) : directive("ifdef", "NEVER");
        text += directive("include", random_.of(includes));
        if (random_.percent(30))
            text += directive("include", random_.of(includes));
        if (random_.percent(20))
            text += directive("error", "never");
        return text + directive("endif", "");
    }

    /* ---- bodies ---- */

    /* NVRTC has no __COUNTER__. */
    std::string counter() { return is_cuda_ ? "__LINE__" : "__COUNTER__"; }
    /* hipRTC's header, which sees the options, has templates with parameters of one letter. */
    static std::string macro_of(size_t number) { return std::string("M") + static_cast<char>('A' + number); }
    std::string macro() { return macro_of(random_.below(8)); }

    std::string definition()
    {
        const std::string name = macro();
        const std::vector<std::string> values = {number(), "(" + number() + " + 1)", "__LINE__", counter()};
        const std::string value = random_.percent(75) ? number() : random_.of(values);
        return directive("undef", name) + directive("define", name + " " + value);
    }

    std::string condition()
    {
        const std::string name = macro();
        switch (random_.below(5)) {
        case 0: return directive("ifdef", name);
        case 1: return directive("ifndef", name);
        case 2: return directive("if", "defined(" + name + ") && !defined " + macro());
        case 3: return directive("if", name + " > " + number());
        default: return directive("if", "defined " + name + " || 1");
        }
    }

    std::string block(size_t own, const std::string &folder, bool takes_statements, size_t depth)
    {
        std::string text = condition() + body(own, folder, takes_statements, depth + 1);
        if (random_.percent(25))
            text += directive("elif", "defined(" + macro() + ")") + body(own, folder, takes_statements, depth + 1);
        if (random_.percent(45))
            text += directive("else", "") + body(own, folder, takes_statements, depth + 1);
        return text + directive("endif", "");
    }

    std::string statement(size_t own)
    {
        std::vector<std::string> values = {"__LINE__", counter(), "sizeof(\"#include \\\"x.h\\\"\")", "'#'",
                                           "sizeof(\"/*\")"};
        if (own != files_.size()) /* not in the source, for which compilers invent names */
            values.insert(values.end(), {"sizeof(__FILE__)", "__FILE__[0]", "__FILE__[sizeof(__FILE__) - 4]"});
        if (is_cuda_ && random_.percent(4))
            return "MIX(sizeof(R\"x(\n#include \"x.h\"\n)x\"))" + line_end();
        if (is_cuda_ && random_.percent(3))
            return "MIX(1'0" + number() + ")" + line_end();
        if (random_.percent(3))
            return "MIX(\\\n" + number() + ")" + line_end();
        return "MIX(" + (random_.percent(70) ? number() : random_.of(values)) + ")" + line_end();
    }

    std::string item(size_t own, const std::string &folder, bool takes_statements, size_t depth)
    {
        const size_t kind = random_.below(100);
        if (kind < 26)
            return includes_left_-- > 0 ? include(own, folder, takes_statements) : "";
        if (kind < 34)
            return depth < 3 ? block(own, folder, takes_statements, depth) : "";
        if (kind < 40)
            return never();
        if (kind < 50)
            return definition();
        if (kind == 50 && random_.percent(40))
            return directive("line", number() + (random_.percent(30) ? " \"named.h\"" : ""));
        if (kind < 54)
            return directive("warning", "seen " + number());
        if (kind < 58)
            return "/* a comment with\n#include \"x.h\"\n */\n";
        if (kind < 60)
            return "// a comment that goes on \\\n#include \"missing.h\"\n";
        if (kind < 62)
            return directive("", "");
        return takes_statements ? statement(own) : definition();
    }

    std::string body(size_t own, const std::string &folder, bool takes_statements, size_t depth)
    {
        std::string text;
        const size_t count = 1 + random_.below(depth == 0 ? 6 : 3);
        for (size_t i = 0; i < count; ++i)
            text += item(own, folder, takes_statements, depth);
        return text;
    }

    std::string text_of(size_t index)
    {
        const File &file = files_[index];
        includes_left_ = 3;
        const std::string inner = body(index, file.folder, file.has_statements, 0);
        if (!file.is_guarded)
            return inner;
        /* Most guards consist of the file's name alone, so that files of the same name share a guard. */
        std::string name = "GUARD_" + file.name + (random_.percent(60) ? "" : "_" + std::to_string(index));
        std::replace_if(
            name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
        const std::string before = random_.percent(20) ? "/* license\n */\n" : random_.percent(5) ? ";\n" : "";
        const std::string behind = random_.percent(8) ? "\n/* end */" : "";
        switch (random_.below(6)) {
        case 0: return before + directive("pragma", "once") + inner;
        case 1:
            return before + directive("pragma", "once") + directive("ifndef", name) + directive("define", name) +
                   inner + directive("endif", "");
        case 2:
            return before + directive("if", "!defined(" + name + ")") + directive("define", name + " 1") + inner +
                   directive("endif", "") + behind;
        case 3:
            return before + directive("if", "!defined " + name) + inner + directive("define", name) +
                   directive("endif", "");
        default:
            return before + directive("ifndef", name) + directive("define", name) + inner + directive("endif", "") +
                   behind;
        }
    }

    std::string source()
    {
        std::string text = "#define INGOT_TEST\n#define STR_(x) #x\n#define STR(x) STR_(x)\n"
                           "#define MIX(n) h = h * 31u + (unsigned)(n);\n";
        includes_left_ = 4;
        text += body(files_.size(), "", false, 0);
        text += is_cuda_ ? "extern \"C\" __global__ void mix(unsigned *x)\n" : "kernel void mix(global unsigned *x)\n";
        text += "{\n    unsigned h = x[0];\n";
        includes_left_ = 4;
        text += body(files_.size(), "", true, 0) + body(files_.size(), "", true, 0);
        text += include(files_.size(), "", true);
        for (size_t i = 0; i < 8; ++i)
            text += "#ifdef " + macro_of(i) + "\n    MIX(" + macro_of(i) + ")\n#endif\n";
        return with_line_ends(text + "    x[0] = h;\n}\n");
    }

    std::string options()
    {
        std::string text;
        for (const std::string &directory : directories_) {
            const std::string path = random_.percent(15)   ? "@ROOT@/" + directory
                                     : random_.percent(10) ? "./" + directory
                                                           : directory;
            text += (random_.percent(50) ? "-I " : "-I") + path + (random_.percent(10) ? "/ " : " ");
        }
        while (random_.percent(55))
            text += "-D" + std::string(random_.percent(30) ? " " : "") + macro() + "=" + number() + " ";
        if (is_cuda_ && random_.percent(15))
            text += "-U " + macro() + " ";
        if (random_.percent(10))
            text += "-w ";
        if (random_.percent(15))
            text += is_cuda_ ? "-std=c++17 " : "-cl-std=CL1.2 ";
        if (!text.empty() && random_.percent(50))
            text.pop_back();
        return text;
    }

    Random random_;
    bool is_cuda_;
    long includes_left_ = 0; /* for the text that is being written */
    std::vector<File> files_;
    std::vector<std::string> directories_; /* for -I */
};

} // namespace

Project generate_project(uint64_t seed, uint64_t index, bool is_cuda)
{
    Project project = Generator(seed, index, is_cuda).make();
    project.label = "generated " + std::to_string(index);
    return project;
}

} // namespace hermetic

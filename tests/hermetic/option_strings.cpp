/*
 * option_strings.cpp - generates option strings; see option_strings.h. About half of the strings are plain, so that
 * many programs can be cached. The others are odd in one place or in several.
 */
#include "hermetic/option_strings.h"

namespace hermetic
{

namespace
{

class Writer
{
public:
    Writer(Random *random, const std::string &root, ingot_source_kind_t kind)
        : random_(*random), root_(root), kind_(kind)
    {
    }

    std::string string()
    {
        is_odd_ = random_.percent(50);
        std::string text;
        const size_t count = random_.below(4) + (random_.percent(90) ? 1 : 0);
        for (size_t i = 0; i < count; ++i) {
            const std::string more = i == 0 && random_.percent(60) ? directory() : piece();
            text += more + separator();
            if (random_.percent(6))
                text += more + separator();
        }
        while (is_odd_ && random_.percent(25))
            mutate(&text);
        if (random_.percent(50) && !text.empty() && text.back() == ' ')
            text.pop_back();
        return text;
    }

private:
    std::string of(const std::vector<std::string> &values) { return random_.of(values); }
    bool odd(size_t chance) { return is_odd_ && random_.percent(chance); }

    std::string separator()
    {
        if (!odd(20))
            return " ";
        return of({"  ", "\t", "\n", "\v", "\f", "\r", "\xc2\xa0", "", " \t ", "\r\n", "\x01", ";", ","});
    }

    std::string folder()
    {
        const std::vector<std::string> plain = {"inc", "inc2", "inc/sub", "include", "e=q"};
        const std::string name = odd(50) ? random_.of(option_folders()) : random_.of(plain);
        switch (random_.below(12)) {
        case 0: return "./" + name;
        case 1: return name + "/";
        case 2: return root_ + "/" + name;
        case 3: return name + "/../inc2";
        case 4: return "missing";
        case 5: return "inc/..//" + name;
        case 6: return ".";
        default: return name;
        }
    }

    std::string quoted(const std::string &text)
    {
        if (!odd(45))
            return text;
        const size_t half = text.size() / 2;
        std::string escaped;
        for (const char c : text)
            escaped += std::string(c == ' ' || c == '"' || c == '\'' || c == '\\' ? "\\" : "") + c;
        switch (random_.below(10)) {
        case 0: return "'" + text + "'";
        case 1: return escaped;
        case 2: return "\"" + text;
        case 3: return text + "\"";
        case 4: return text.substr(0, half) + "\"" + text.substr(half) + "\"";
        case 5: return "\"" + escaped + "\"";
        case 6: return "\"" + text + "'";
        case 7: return "\\" + text;
        default: return "\"" + text + "\"";
        }
    }

    std::string directory()
    {
        const std::string value = folder();
        if (!is_odd_ || random_.percent(40))
            return (random_.percent(50) ? "-I" : "-I ") + quoted(value);
        switch (random_.below(16)) {
        case 0: return "-I=" + quoted(value);
        case 1: return "\"-I" + value + "\"";
        case 2: return "-I\t" + quoted(value);
        case 3: return "-I\n" + quoted(value);
        case 4: return "-I \"\"";
        case 5: return "-I ''";
        case 6: return "-I";
        case 7: return "--include-path=" + quoted(value);
        case 8: return "--include-path " + quoted(value);
        case 9: return of({"-isystem ", "-idirafter ", "-iquote ", "-I- -I", "-F"}) + quoted(value);
        case 10: return "\"-I\" " + quoted(value);
        case 11: return "-I " + quoted(value) + of({";", ",", ":", "="}) + folder();
        case 12: return "-\"I\"" + value;
        case 13: return "-I  " + quoted(value);
        case 14: return "-I\v" + quoted(value);
        default: return "'-I" + value + "'";
        }
    }

    std::string definition()
    {
        const std::string name = of({"X", "X", "Y"});
        const std::vector<std::string> plain = {name, name + "=1", name + "=abc", name + "=", name + "=inc/t.h"};
        if (!is_odd_ || random_.percent(40))
            return (random_.percent(70) ? "-D" : "-D ") + of(plain);
        return of({"-D" + name + "=\"a b\"",
                   "-D\"" + name + "=a b\"",
                   "-D'" + name + "=a b'",
                   "-D" + name + "=a\\ b",
                   "-D" + name + "\\ -DY=3",
                   "-D" + name + "=\"q\\\"\"",
                   "-D\t" + name + "=5",
                   "-D",
                   "-D \"" + name + " y\"",
                   "-D" + name + "=$HOME",
                   "-D" + name + "=#",
                   "-D" + name + "=\\\"s\\\"",
                   "-D " + name + " =2",
                   "-D" + name + "= 2",
                   "-D" + name + "(a)=a",
                   "-D=",
                   "-D -I inc",
                   "-D" + name + "=\"\"",
                   "-D" + name + "='c'",
                   "\"-D" + name + "=a b\"",
                   "-D\"\" " + name,
                   "-D" + name + "=\xc2\xa0z",
                   "-DNAME=other",
                   "-DSPELLING=\"u.h\"",
                   "-DSPELLING=<u.h>",
                   "-DSPELLING=\\\"u.h\\\"",
                   "-D" + name + "=\\",
                   "-U" + name,
                   "-D" + name + "=a;b"});
    }

    std::string known()
    {
        if (kind_ == INGOT_SOURCE_HIP_CPP)
            return of({"-std=c++17", "-w", "-ffast-math", "--std=c++14", "-O1", "--offload-arch=gfx1030", "-Wall"});
        return kind_ == INGOT_SOURCE_CUDA_CPP
                   ? of({"-std=c++17", "-w", "--use_fast_math", "--std=c++14", "-std c++17", "-lineinfo"})
                   : of({"-cl-std=CL1.2", "-w", "-cl-fast-relaxed-math", "-cl-mad-enable", "-cl-std=CL2.0"});
    }

    std::string unknown()
    {
        return of({"-Wall",
                   "-fno-inline",
                   "@t.h",
                   "-foo",
                   "--",
                   "-x cl",
                   "-include inc/t.h",
                   "-include \"inc2/t.h\"",
                   "t.h",
                   "-I",
                   "-include-pch t.h",
                   "-imacros inc/t.h",
                   "--pre-include=inc/t.h",
                   "-include=inc/t.h",
                   "-Xclang -include -Xclang inc/t.h",
                   "-includeinc/t.h",
                   "--options-file=inc/t.h",
                   "-optf inc/t.h",
                   "-nocudainc",
                   "\"\"",
                   "''",
                   "\\",
                   "-cl-unknown",
                   "-U X",
                   "-Werror",
                   "-g",
                   "-cl-std=CL9"});
    }

    std::string piece()
    {
        const size_t kind = random_.below(100);
        if (kind < 55)
            return directory();
        if (kind < 80)
            return definition();
        return is_odd_ && kind < 92 ? unknown() : known();
    }

    void mutate(std::string *text)
    {
        const std::string odd = "\"'\\= \t\n\v\f\r-I@#$;,DX";
        const size_t at = random_.below(text->size() + 1);
        if (random_.percent(30) && at < text->size())
            text->erase(at, 1);
        else
            text->insert(at, 1, odd[random_.below(odd.size())]);
    }

    Random &random_;
    const std::string &root_;
    ingot_source_kind_t kind_;
    bool is_odd_ = false;
};

} // namespace

const std::vector<std::string> &option_folders()
{
    static const std::vector<std::string> folders = {
        "inc",   "inc2", "inc/sub", "include", "a b",     "it's",  "q\"d",   "b\\s",     "e=q",   "=inc",     "-I",
        "=inc2", "inc ", "d,c",     "s;c",     "\"inc\"", "'inc'", "\"inc2", "inc\\sub", "in\tc", "\xc2\xa0z"};
    return folders;
}

std::string option_string(Random *random, const std::string &root, ingot_source_kind_t kind)
{
    return Writer(random, root, kind).string();
}

} // namespace hermetic

/*
 * spellings.cpp - spells names in ways that only the preprocessor sees through; see spellings.h.
 */
#include "hermetic/spellings.h"

namespace hermetic
{

namespace
{

enum Place { kSource, kHeader, kOptions, kPlaces };

} // namespace

/* Adds a definition. Definitions in options have no blanks, because not all compilers accept quotes there. */
void Speller::put(const std::string &name, const std::string &parameters, const std::string &body, size_t place)
{
    if (place == kOptions)
        spelled_.options += " -D" + name + parameters + "=" + body;
    else
        (place == kHeader ? spelled_.header : spelled_.source) +=
            (random_.percent(10) ? "%:define " : "#define ") + name + parameters + " " + body + "\n";
}

std::string Speller::splice(std::string text)
{
    if (text.size() > 1 && random_.percent(15))
        text.insert(1 + random_.below(text.size() - 1), "\\\n");
    return text;
}

std::string Speller::paste_operator(bool in_option)
{
    static const std::vector<std::string> in_options = {"##", "%:%:"};
    static const std::vector<std::string> in_texts = {"##", " ## ", "%:%:", "#\\\n#", "/**/##/**/", "%:\\\n%:"};
    return random_.of(in_option ? in_options : in_texts);
}

/* Returns a macro for a part of a name, or the part itself. */
std::string Speller::define(const std::string &body)
{
    if (random_.percent(50))
        return splice(body);
    const std::string name = fresh();
    const size_t place = random_.below(kPlaces);
    put(name, "", place == kOptions ? body : splice(body), place);
    return name;
}

/* Returns an expression for the pasted parts. The outer macro expands its arguments before the inner one pastes. */
std::string Speller::paste(const std::string &left, const std::string &right)
{
    const std::string inner = fresh();
    const std::string outer = fresh();
    const size_t place = random_.below(kPlaces);
    put(inner, "(a,b)", "a" + paste_operator(place == kOptions) + "b", place);
    put(outer, "(a,b)", inner + "(a,b)", random_.below(kPlaces));
    return outer + "(" + left + "," + right + ")";
}

std::string Speller::name(const std::string &text)
{
    const size_t cut = 1 + random_.below(text.size() - 1);
    const std::string left = text.substr(0, cut);
    const std::string right = text.substr(cut);
    const size_t place = random_.below(kPlaces);
    std::string spelled;
    switch (random_.below(6)) {
    case 0: spelled = splice(text); break;
    case 1: return define(text);
    case 2:
        spelled = fresh();
        put(spelled, "", left + paste_operator(place == kOptions) + right, place);
        break;
    case 3:
        if (right.size() > 1) {
            const size_t second = 1 + random_.below(right.size() - 1);
            spelled = paste(define(left), paste(define(right.substr(0, second)), define(right.substr(second))));
            break;
        }
        spelled = paste(define(left), define(right));
        break;
    default: spelled = paste(define(left), define(right)); break;
    }
    if (random_.percent(20)) {
        const std::string wrapper = fresh();
        put(wrapper, "", spelled, kSource);
        return wrapper;
    }
    return spelled;
}

std::string Speller::literal(const std::string &text)
{
    if (random_.percent(25))
        return "\"" + splice(text) + "\"";
    const std::string inner = fresh();
    const std::string outer = fresh();
    const size_t place = random_.below(kPlaces);
    put(inner, "(a)", "#a", place);
    put(outer, "(a)", inner + "(a)", random_.below(kPlaces));
    return outer + "(" + name(text) + ")";
}

} // namespace hermetic

#!/usr/bin/env python3
"""Prepares a file of the repository for Doxygen: page_filter.py FILE

In Markdown, headings get labels, relative links become references to those labels, and footnotes become links. Doxygen
warns of a reference without a label, and a warning is an error. Links to other files of the repository go to source/,
where finish_site.py writes a page for each. In headers, #include in a comment is a word and not a reference.
"""
import os
import re
import sys

LINK = re.compile(r"(!?)\[([^\]\n]*)\]\(([^)\s]+)\)")
FOOTNOTE = re.compile(r"\[\^([\w-]+)\](:?)")


def label_of(path):
    """The label of a page: doc/tracing.md is tracing, README.md is mainpage, and so on."""
    folder, name = os.path.split(path)
    if name == "README.md":
        return {"": "mainpage", "examples": "example-programs"}.get(folder, "example-" + os.path.basename(folder))
    return name[: -len(".md")].lower()


def slug(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def target(link, page):
    """What a relative link of a page becomes."""
    path, _, anchor = link.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if os.path.isdir(path):
        path = os.path.join(path, "README.md")
    if path.endswith(".md"):
        return "@ref " + label_of(path) + ("_" + anchor if anchor else "")
    if path.startswith("include/"):
        return "@ref " + path[len("include/"):]
    return "source/" + path + ".html"


def rewrite(text, page):
    def link(match):
        image, words, to = match.groups()
        if re.match(r"[a-z]+:", to):
            return match.group(0)
        if image:
            return "![%s](%s)" % (words, os.path.basename(to))
        return "[%s](%s)" % (words, target(to, page))

    def footnote(match):
        name, is_definition = match.groups()
        if is_definition:
            return '\n<a id="note-%s"></a>%s:' % (name, name.capitalize())
        return '<sup><a href="#note-%s">%s</a></sup>' % (name, name)

    return FOOTNOTE.sub(footnote, LINK.sub(link, text))


def filter_page(page):
    label = label_of(page)
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    table = "\n\n[TOC]" if sum(line.startswith("## ") for line in lines) >= 4 else ""
    in_code = False
    for line in lines:
        heading = re.match(r"(#+) (.*)", line)
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif heading and not in_code:
            level, title = heading.groups()
            # Doxygen's tree would show sections of the main page beside the pages.
            if label == "mainpage" and level != "#":
                line = '<h%d id="%s">%s</h%d>' % (len(level), slug(title), title, len(level))
            elif level == "#":
                line = "# %s {#%s}%s" % (title, label, table)
            else:
                line = "%s %s {#%s_%s}" % (level, title, label, slug(title))
        elif not in_code:
            line = rewrite(line, page)
        print(line)


def filter_header(header):
    for line in open(header, encoding="utf-8"):
        print(line.rstrip("\n") if line.startswith("#") else line.rstrip("\n").replace("#include", "\\#include"))


if __name__ == "__main__":
    given = os.path.relpath(sys.argv[1])
    if given.endswith(".md"):
        filter_page(given)
    else:
        filter_header(given)

#!/usr/bin/env python3
"""Completes the site that Doxygen made and checks it: finish_site.py FOLDER

Links names of the interface to their declarations. Writes source/PATH.html for each file of the repository that a page
links to. Fails if a link leads nowhere or if a page of doc/ is not in layout.xml.
"""
import glob
import html
import os
import re
import sys
import urllib.parse

LINK = re.compile(r'(?:href|src|data)="([^"]+)"')
ANCHOR = re.compile(r'\b(?:id|name)="([^"]+)"')
NAME = re.compile(r"\b(?:ingot|INGOT)_\w+")
LEFT_ALONE = re.compile(
    r'<(a|head|h\d|pre|div(?= class="title)|table(?= class="mem)|td(?= class="field(?:name|type)))\b'
)
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{path}</title><link rel="stylesheet" href="{up}ingot.css"></head>
<body class="source"><h1>{path}</h1><p><a href="{up}index.html">Ingot</a></p><pre>{text}</pre></body></html>
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_source(site, link):
    """Makes a page of a file of the repository. Returns False if there is no such file."""
    path = link[len("source/"):-len(".html")]
    if not os.path.isfile(path):
        return False
    target = os.path.join(site, link)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write(PAGE.format(path=path, text=html.escape(read(path)), up="../" * link.count("/")))
    return True


def with_names_linked(text, places):
    """Links each name that stands in text, but not in a link, a heading, a declaration or a listing."""
    parts = re.split(r"(<[^>]*>)", text)
    left_alone = None
    for i, part in enumerate(parts):
        if i % 2 == 0:
            if left_alone is None:
                parts[i] = NAME.sub(lambda name: places.get(name[0], name[0]), part)
        elif left_alone is None and LEFT_ALONE.match(part):
            left_alone = "</%s>" % LEFT_ALONE.match(part)[1]
        elif part == left_alone:
            left_alone = None
    return "".join(parts)


def link_names(site):
    """Doxygen links a function only where it is written with parentheses. Names of variables stay as they are."""
    variables = re.findall(r"^\| `(INGOT_\w+)`", read("doc/environment.md"), re.MULTILINE)
    pages = {path: read(path) for path in glob.glob(os.path.join(site, "*.html"))}
    places = {}
    for text in pages.values():
        for link, name in re.findall(r'(<a class="el" href="[^"]+">((?:ingot|INGOT)_\w+)</a>)', text):
            places[name] = link if name not in variables else name
    for path, text in pages.items():
        if not path.endswith("_source.html"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(with_names_linked(text, places))


def links_of(text):
    for link in LINK.findall(text):
        link = html.unescape(link)
        if not re.match(r"[a-z]+:", link) and "$" not in link:
            yield link


def broken_links(site):
    anchors = {}
    pages = {name: read(os.path.join(site, name)) for name in os.listdir(site) if name.endswith(".html")}
    for name, text in sorted(pages.items()):
        for link in sorted(set(links_of(text))):
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            path = path or name
            if not os.path.exists(os.path.join(site, path)):
                if not (path.startswith("source/") and write_source(site, path)):
                    yield "%s: a link to %s, which does not exist" % (name, link)
            elif anchor and path in pages:
                if path not in anchors:
                    anchors[path] = set(ANCHOR.findall(pages[path]))
                if anchor not in anchors[path]:
                    yield "%s: a link to %s, which has no such place" % (name, link)


def missing_in_layout():
    layout = read("doc/site/layout.xml")
    for path in sorted(glob.glob("doc/*.md")):
        label = os.path.basename(path)[: -len(".md")]
        if '"@ref %s"' % label not in layout:
            yield "%s: not in doc/site/layout.xml" % path


def unknown_in_tree(site):
    """The tree's links that Doxygen could not resolve, of which it does not warn."""
    for link in re.findall(r'"(@ref [^"]*)"', read(os.path.join(site, "navtreedata.js"))):
        yield "doc/site/layout.xml: %s is neither a page nor a header" % link


link_names(sys.argv[1])
problems = list(missing_in_layout()) + list(unknown_in_tree(sys.argv[1])) + list(broken_links(sys.argv[1]))
for problem in problems:
    print("docs: " + problem, file=sys.stderr)
sys.exit(1 if problems else 0)

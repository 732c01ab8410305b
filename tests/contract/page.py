"""What every page has in common, for the tests of `audit -o html` and `plan -o html`."""
import base64
import hashlib
import html.parser
import re

from serving import check

VOID = ("meta", "br", "input", "meter")
# What a page may be made of; nothing of it loads anything.
TAGS = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "b", "small", "a",
        "span", "br", "code", "ul", "li", "dl", "dt", "dd", "nav", "section", "details", "summary",
        "form", "input", "select", "option", "button", "output", "table", "caption", "thead",
        "tbody", "tr", "th", "td", "figure", "svg", "g", "rect", "path", "text", "defs", "pattern",
        "script"}
# Where a paragraph may not stand, so that a browser does not close it early.
BLOCKS = {"p": {"p", "table", "ul", "dl", "details", "section", "figure", "form"},
          "summary": {"p", "table", "ul", "dl", "details", "section"},
          "span": {"p", "table", "ul", "dl", "details", "section"}}


class Page(html.parser.HTMLParser):
    """A page that is well-formed, safe, and of itself alone; its text, and its elements in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.elements, self.ids, self.script = [], "", [], set(), None
        self.policy = None
        check(text.startswith("<!DOCTYPE html>\n"), "no doctype")
        self.feed(text)
        self.close()
        check(self.open == [], f"not closed: {self.open}")
        self.jumps_lead_somewhere()
        self.script_is_the_one_allowed()

    def handle_starttag(self, tag, attrs):
        tag = tag.lower()
        attributes = dict(attrs)
        check(tag in TAGS, f"<{tag}> in the page")
        check(len(attributes) == len(attrs), f"<{tag}> has an attribute twice")
        for name, value in attrs:
            check(not name.startswith("on"), f"<{tag} {name}>")
            check(name not in ("src", "srcset", "action", "formaction", "background", "data"),
                  f"<{tag} {name}=\"{value}\">")
            check("url(" not in (value or "") or re.fullmatch(r"url\(#[-a-z0-9]+\)", value),
                  f"<{tag} {name}=\"{value}\">")
        if "href" in attributes:
            check(re.match(r"(#|https?://)", attributes["href"]), attributes["href"])
        if "id" in attributes:
            check(attributes["id"] not in self.ids, f"the id {attributes['id']} is there twice")
            self.ids.add(attributes["id"])
        for outer in self.open:
            check(tag not in BLOCKS.get(outer, ()), f"<{tag}> in <{outer}>")
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        check("svg" in self.open, f"<{tag}/> outside of a picture")
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f"</{tag}> closes something else")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            check(self.script is None, "a second script")
            self.script = data
        elif self.open and self.open[-1] == "style":
            check("url(" not in data and "@import" not in data, "the style loads something")
        else:
            self.text += data

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def count(self, tag, class_=None):
        return sum(1 for name, attributes in self.elements if name == tag and
                   (class_ is None or class_ in (attributes.get("class") or "").split()))

    def jumps_lead_somewhere(self):
        for tag, attributes in self.elements:
            target = attributes.get("href", "")
            if tag == "a" and target.startswith("#"):
                check(target[1:] in self.ids, f"{target} leads nowhere")

    def script_is_the_one_allowed(self):
        check(self.policy is not None and self.policy.startswith("default-src 'none'; "), self.policy)
        found = base64.b64encode(hashlib.sha256(self.script.encode()).digest()).decode()
        check(f"script-src 'sha256-{found}';" in self.policy,
              f"report/page.c: script_hash must be sha256-{found}")

"""Light colour for Python that holds C++: comments, directives, keywords and numbers.

Not a lexer: a ``#`` or ``//`` inside a string may be coloured as a comment. Whatever the text is,
every character of it comes out escaped.
"""

import re

from markupsafe import Markup, escape

_TOKEN = re.compile(
    r"(?P<directive>^[ \t]*#[ \t]*(?:include|pragma|define|ifdef|ifndef|if|else|endif)\b[^\n]*)"
    r"|(?P<comment>\#[^\n]*|(?<![:\w/])//(?=[ \w])[^\n]*)"
    r"|(?P<keyword>\b(?:class|def|return|import|from|as|if|else|elif|for|while|not|and|or|is|with"
    r"|None|True|False|lambda|raise|self|super|const|auto|void|int|int64_t|float|double|bool|static"
    r"|inline|struct|template|typename|using|namespace|size_t|restrict|__restrict__)\b)"
    r"|(?P<number>\b\d[\w.]*\b)",
    re.MULTILINE,
)
_SHORT = {"directive": "d", "comment": "c", "keyword": "k", "number": "n"}


def highlight(source: str) -> Markup:
    """*source* as safe HTML for a ``<pre>``."""
    parts, end = [], 0
    for match in _TOKEN.finditer(source):
        parts.append(escape(source[end : match.start()]))
        css = _SHORT[str(match.lastgroup)]
        parts.append(Markup('<i class="{}">{}</i>').format(css, match.group()))
        end = match.end()
    parts.append(escape(source[end:]))
    return Markup("").join(parts)

"""Makes the maps that the program marks reads from a clone of github.com/ecuadros/Curricula (LaTeX sources):

    python3 maps.py CLONE FOLDER

The levels of its outcomes, 1 familiarity, 2 usage and 3 assessment, become introduced, reinforced and mastered. Courses
are in the order of the cycle and number in their codes. A specific outcome has its course's level for the outcome that
it belongs to.
"""

import json
import re
import sys
from pathlib import Path

COMMIT = "f72202c37bf62e65fc5caaf3a5101c56cfe29237"  # which the figures are from
LANG = Path("Curricula.in/lang")
COMMENT = re.compile(r"(?<!\\)%.*")
SPANISH = re.compile(r"\b(los|las|una|del|para|que)\b")


def plain(tex):
    tex = re.sub(r"\\xspace", "", COMMENT.sub("", tex))
    tex = re.sub(r"\\(textit|textbf|emph|underline)\{([^}]*)\}", r"\2", tex)
    tex = re.sub(r"\\[a-zA-Z]+", "", re.sub(r"\\[a-zA-Z]+\{([^}]*)\}", r"\1", tex))
    return re.sub(r"\s+", " ", re.sub(r"[{}\\]", "", tex).replace("~", " ")).strip()


def block(tex, name, version=""):
    begin = re.escape(r"\begin{%s}" % name + ("{%s}" % version if version else ""))
    found = re.search(begin + r"(.*?)" + re.escape(r"\end{%s}" % name), tex, re.S)
    return found.group(1) if found else ""


def read(path):
    return path.read_text("utf8", "replace") if path.is_file() else ""


def courses(clone, english, common, version, outcomes):
    """Returns the courses that are described in English and have marks, by the outcomes of a version."""
    folder, found = clone / LANG / "English/cycle" / english / "Syllabi", []
    for path in sorted(folder.rglob("*.tex"), key=str):
        tex, inside = read(path), path.relative_to(folder)
        title = re.search(r"\\course\{([^}]*)\}", tex)
        if not title or "Trash" in inside.parts:
            continue
        levels = tex
        if common:
            levels = read(clone / LANG / "Common/cycle" / common / "Syllabi" / str(inside).replace(" ", ""))
        item = re.compile(r"\\item\s*\\ShowOutcome\{([^}]*)\}\{(\d)\}")
        marks = item.findall(COMMENT.sub("", block(levels, "outcomes", version)))
        marks = {o: min(int(n), 3) for o, n in marks if o in outcomes and int(n) > 0}
        description = plain(block(tex, "justification"))
        if not marks or len(description) < 80 or len(SPANISH.findall(description)) > 2:
            continue
        found.append({
            "code": path.stem.replace(" ", ""), "name": re.sub(r"^[A-Z]{2,}\d\w*\.?\s*", "", plain(title.group(1))),
            "description": description, "marks": marks,
            "goals": [g for g in map(plain, re.split(r"\\item", block(tex, "goals"))[1:]) if g],
        })
    return sorted(found, key=lambda c: (re.sub(r"^\D+", "", c["code"])[:1], c["code"]))


def specific(clone, cycle, version, all_courses, outcomes):
    """Returns courses with the marks of their specific outcomes."""
    found = []
    for c in all_courses:
        paths = sorted((clone / LANG / "Common/cycle" / cycle).rglob(c["code"] + ".tex"), key=str)
        tex = COMMENT.sub("", block(read(paths[0]), "specificoutcomes", version)) if paths else ""
        named = re.findall(r"ShowSpecificOutcome\{([^}]*)\}\{([^}]*)\}", tex)
        marks = {of + n: c["marks"][of] for of, n in named if of in c["marks"] and of + n in outcomes}
        if marks:
            found.append({**c, "marks": marks})
    return found


def write(folder, name, outcomes, all_courses):
    used = [o for o in outcomes if any(o in c["marks"] for c in all_courses)]
    content = {"name": name, "outcomes": [{"code": o, "statement": outcomes[o]} for o in used], "courses": all_courses}
    (folder / (name + ".json")).write_text(json.dumps(content, indent=1, ensure_ascii=False), "utf8")
    print(name, len(all_courses), "courses", len(used), "outcomes")


def main(clone, folder):
    macros = read(clone / LANG / "English/Disciplines/Computing/CS/tex/outcomes-macros.tex")
    macros = "\n".join(line for line in macros.split("\n") if not line.strip().startswith("%"))
    general = re.findall(r"\\DefineOutcome\{([^}]*)\}\{(.*)\}\s*$", macros, re.M)
    general = {code: plain(text) for code, text in general}
    detailed = re.findall(r"\\DefineSpecificOutcome\{([^}]*)\}\{([^}]*)\}\{[^}]*\}\{(.*)\}\s*$", macros, re.M)
    detailed = {of + n: plain(text) for of, n, text in detailed}
    folder.mkdir(parents=True, exist_ok=True)
    for name, english, common, version in (
        ("v1-2017", "2017-I", "", "V1"), ("v1-2021", "2021-I", "2021-I", "V1"),
        ("v2-2021", "2021-I", "2021-I", "V2"), ("usil-2021", "2021-II", "2021-II", "USIL21"),
    ):
        found = courses(clone, english, common, version, general)
        write(folder, name, general, found)
        if name == "v1-2021":
            write(folder, "specific-2021", detailed, specific(clone, "2021-I", "V1", found, detailed))


main(Path(sys.argv[1]), Path(sys.argv[2]))

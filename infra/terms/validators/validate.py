# Reads documents in JSON-LD, one per line, and prints what ctdl-validate and PyLD find wrong in them.
import json
import sys
from importlib import resources
from types import ModuleType

sys.modules["lxml"] = sys.modules["lxml.html"] = ModuleType("lxml")  # PyLD reads HTML with it; no document is HTML

from ctdl_validate.validator import validate_document
from pyld import jsonld

vendor = resources.files("ctdl_validate") / "vendor"
contexts = {
    "https://credreg.net/%s/schema/context/json" % name: json.loads((vendor / name / "context.json").read_text("utf-8"))
    for name in ("ctdl", "ctdlasn")
}


def load(url, options):
    return {"contentType": "application/ld+json", "contextUrl": None, "documentUrl": url, "document": contexts[url]}


def properties(value, found):
    """Adds the keys of all objects in the value to found, without keywords and languages."""
    if isinstance(value, list):
        for item in value:
            properties(item, found)
    elif isinstance(value, dict):
        for key, item in value.items():
            if ":" in key:
                found.add(key)
            properties(item, found)


def ids(value):
    if isinstance(value, list):
        for item in value:
            yield from ids(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "@id":
                yield item
            elif key == "@type" and "@value" not in value:
                yield from item
            else:
                yield from ids(item)


for number, line in enumerate(sys.stdin):
    document = json.loads(line)
    for finding in validate_document(document):
        if finding.severity.name in ("ERROR", "WARNING"):
            print(number, finding.severity.name, finding.code, finding.entity, finding.prop, finding.value)
    prefixes = contexts[document["@context"]]["@context"]
    expanded = jsonld.expand(document, {"documentLoader": load})
    used, kept = set(), set()
    properties(document, used)
    properties(expanded, kept)
    for term in used:
        prefix, name = term.split(":", 1)
        if prefixes[prefix] + name not in kept:
            print(number, "PyLD drops", term)
    for value in ids(expanded):
        if not value.startswith(("https://", "http://", "urn:", "_:")):
            print(number, "PyLD does not expand", value)

"""The C interface, read from its headers: structures, enumerations and functions for ctypes.

The headers are the only place that lists them, so that a setting added there is known here. They are regular text of
one project: a member per line with its comment, plain types, no nesting. `tests/test_header.py` compares sizes and
offsets with those of a C compiler.
"""
import ctypes
import os
import re

FILES = ("fathom.h", "metrics.h", "norm.h", "ranks.h")

TYPES = {
    "size_t": ctypes.c_size_t, "int": ctypes.c_int, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "float": ctypes.c_float, "double": ctypes.c_double, "fathom_status": ctypes.c_int,
}

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_ENUM = re.compile(r"typedef enum (\w+) \{(.*?)\} \w+;", re.S)
_STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \w+;", re.S)
_MEMBER = re.compile(r"((?:/\*\*(?!<).*?\*/\s*)?)([^;/]+?)\s*((?:/\*\*<.*?\*/\s*)?);\s*((?:/\*\*<.*?\*/)?)", re.S)
_CALLBACK = re.compile(r"\w+ \(\*(\w+)\)\([^()]*\)")  # an argument that is a function
_FUNCTION = re.compile(r"FATHOM_API\s+([\w ]+?[ *]+)(fathom_\w+)\((.*?)\);", re.S)


def _plain(comment):
    text = comment.strip().removeprefix("/**").removeprefix("<").removesuffix("*/")
    return re.sub(r"\s*\n\s*\*?\s*", " ", text).strip()


def _ctype(declaration):
    """The ctypes type and the name of "const char *split" or "char name[64]"; function pointers are addresses."""
    if "(*" in declaration:
        return ctypes.c_void_p, re.search(r"\(\*(\w+)\)", declaration).group(1)
    kind, name, length = re.fullmatch(r"(.*?[ *])(\w+)(?:\[(\d+)\])?", declaration.strip(), re.S).groups()
    kind = re.sub(r"\s+", " ", kind).replace("const ", "").strip()
    if kind.endswith("*"):
        return (ctypes.c_char_p if kind == "char *" else ctypes.c_void_p), name
    if length:
        return ctypes.c_char * int(length), name
    return TYPES.get(kind, ctypes.c_void_p), name


class Header:
    """`structs` and `enums` by their names in C, `functions` as (result, arguments), `docs` of the members."""

    def __init__(self, folder):
        self.structs, self.enums, self.functions, self.docs = {}, {}, {}, {}
        for name in FILES:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                self._read(file.read())

    def _read(self, text):
        for name, body in _ENUM.findall(text):
            values = re.findall(r"(\w+) = (-?\d+)", _COMMENT.sub("", body))
            self.enums[name] = _words({word: int(value) for word, value in values})
        for name, body in _STRUCT.findall(text):
            self._struct(name, body)
        for result, name, arguments in _FUNCTION.findall(_COMMENT.sub("", text)):
            arguments = _CALLBACK.sub(r"void *\1", arguments)
            types = [] if arguments.strip() == "void" else [_ctype(a)[0] for a in arguments.split(",")]
            result = result.replace("const ", "").strip()
            self.functions[name] = (None if result == "void" else ctypes.c_char_p if result == "char *"
                                    else TYPES[result], types)

    def _struct(self, name, body):
        fields, self.docs[name] = [], {}
        for before, declaration, inside, after in _MEMBER.findall(body):
            kind, member = _ctype(declaration)
            fields.append((member, kind))
            self.docs[name][member] = _plain(before or inside or after)
        self.structs[name] = type(name, (ctypes.Structure,), {"_fields_": fields})

    def words_of(self, struct, member):
        """The words of a member whose comment names an enumeration: {"gcn": 0, ...}; else None."""
        for name in re.findall(r"\bfathom_\w+", self.docs[struct][member]):
            if name in self.enums:
                return self.enums[name]
        return None


def _words(values):
    """FATHOM_NORM_GROUP of an enumeration whose members begin with FATHOM_NORM_ becomes "group"."""
    names = list(values)
    cut = os.path.commonprefix(names).rfind("_") + 1
    return {name[cut:].lower().replace("_", "-"): value for name, value in values.items()}

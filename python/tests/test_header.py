"""What _header.py reads from the headers, against a C compiler: the size of every structure, the offset of every member,
the value of every enumerator. And every setting of the command is one of fathom.train."""
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import fathom
from fathom._library import command, library

OF_DATA = {"data", "split", "features", "labels", "feature_norm", "missing_rate"}
OF_COMMAND = {"device", "threads", "profile", "dry_run", "json", "quiet", "help", "trust_device", "version", "verbose", "no_tune",
              "ranks", "comm_timeout"}


class Header(unittest.TestCase):
    def setUp(self):
        self.header = library().header

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_structures(self):
        wanted, lines = [], []
        for name, struct in self.header.structs.items():
            lines.append(f'printf("%zu\\n", sizeof({name}));')
            wanted.append((name, ctypes.sizeof(struct)))
            for member, _ in struct._fields_:
                lines.append(f'printf("%zu\\n", offsetof({name}, {member}));')
                wanted.append((f"{name}.{member}", getattr(struct, member).offset))
        self.assertGreater(len(wanted), 150)
        for name, made in zip(wanted, self.compiled(lines)):
            self.assertEqual((name[0], made), name)

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_enumerations(self):
        text = "".join(open(os.path.join(self.folder(), f), encoding="utf-8").read() for f in ("fathom.h", "metrics.h", "ranks.h"))
        for name, words in self.header.enums.items():
            body = re.search(r"typedef enum " + name + r" \{(.*?)\}", text, re.S).group(1)
            names = re.findall(r"(FATHOM_\w+)", re.sub(r"/\*.*?\*/", "", body, flags=re.S))
            values = self.compiled([f'printf("%d\\n", (int){n});' for n in names])
            self.assertEqual(list(words.values()), values, name)
        self.assertEqual(self.header.enums["fathom_conv"]["gcnii"], 3)

    def test_functions(self):
        declared = set()
        for name in ("fathom.h", "metrics.h", "norm.h", "ranks.h"):
            with open(os.path.join(self.folder(), name), encoding="utf-8") as file:
                declared |= set(re.findall(r"\b(fathom_[a-z_]+)\(", re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)))
        self.assertEqual(set(self.header.functions), declared)

    def test_settings_of_the_command(self):
        text = subprocess.run([command(), "train", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        options = {o.replace("-", "_") for o in re.findall(r"^  (?:-\w, |    )?--([a-z-]+)", text, re.M)}
        options |= {o.replace("-", "_") for o in re.findall(r"^ {2,6}--([a-z-]+)", text, re.M)}
        missing = options - set(fathom.settings()) - OF_DATA - OF_COMMAND
        self.assertEqual(missing, set(), "options of `fathom train` that fathom.train does not take")
        self.assertIn("skip_weight", options)

    @staticmethod
    def folder():
        from fathom._library import _folder_of_headers
        return _folder_of_headers()

    def compiled(self, lines):
        """The numbers that these lines of C print."""
        with tempfile.TemporaryDirectory() as where:
            source = os.path.join(where, "a.c")
            with open(source, "w") as file:
                file.write("#include <stddef.h>\n#include <stdio.h>\n#include <fathom/fathom.h>\nint main(void) {\n" +
                           "\n".join(lines) + "\nreturn 0;\n}\n")
            environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
            subprocess.run(["cc", "-I", os.path.dirname(self.folder()), source, "-o", source + ".out"], check=True,
                           env=environment)
            return [int(x) for x in subprocess.run([source + ".out"], stdout=subprocess.PIPE, check=True,
                                                   env=environment).stdout.split()]


if __name__ == "__main__":
    unittest.main()

"""The program `fathom` of the package."""
import os
import sys

from ._library import command


def main():
    path = command()
    os.execv(path, [path, *sys.argv[1:]])

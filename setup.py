"""Gives the package index the README without its links to files of the repository, which lead nowhere there."""

import re
from pathlib import Path

from setuptools import setup

README = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]+\)\n*")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)[^)]+\)")

setup(
    long_description=LINK.sub(r"\1", PICTURE.sub("", README)),
    long_description_content_type="text/markdown",
)

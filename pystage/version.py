"""The version of the installed package, which its metadata tells: `pystage.__version__`."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("pystage")
except PackageNotFoundError:  # a checkout that is only on the path
    __version__ = "0+unknown"

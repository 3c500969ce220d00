"""Exceptions at run time: raise sites, the error cell, handlers, and the instances that handlers see."""

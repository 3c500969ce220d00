"""Errors as data: every diagnostic is a frozen dataclass with a code, a span and reasons.

span.py        a range of the user's source            render.py     a diagnostic as text, one line or HTML
diagnostic.py  the base class of diagnostics           excerpt.py    source lines with underlined spans
errors.py      the exception that carries diagnostics  columns.py    terminal columns of a source line
traceback.py   trimming of its traceback               terminal.py   capabilities of a stream
catalogue.py   the pages of the codes                  broadcasting.py  help for shapes that do not broadcast
codes_*.py     the diagnostics, by family: PS1xx syntax, PS2xx types and shapes, PS3xx control flow,
               PS4xx needs a constant, PS5xx mutation, PS6xx calls, PS7xx differentiation, PS8xx runtime
"""

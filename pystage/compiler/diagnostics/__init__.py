"""Errors as data: every diagnostic is a frozen dataclass with a code, a place and reasons.

span.py        where something stands          render.py     a diagnostic as text, one line or HTML
diagnostic.py  what every diagnostic has       excerpt.py    the lines of the source, marked
errors.py      the exception that carries them columns.py    where each character of a line is shown
traceback.py   where its traceback ends        terminal.py   what a stream can show
catalogue.py   the pages of the codes
codes_*.py     the diagnostics, by family: PS1xx syntax, PS2xx types and shapes, PS3xx control flow,
               PS4xx needs a constant, PS5xx mutation, PS6xx calls, PS7xx differentiation, PS8xx runtime
"""

import contextlib
import io


def f(x):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print(x)
    return text.getvalue()


def rewritten(x):
    return f"{x}\n"

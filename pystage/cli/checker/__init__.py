"""The static checker behind `pystage check`.

    paths ──files──▶ files ──written──▶ text, comments ──functions──▶ functions to check
    a function, two assignments of sizes ──inference──▶ problems with numbers ──naming──▶ problems with names
    findings at their places ──formats──▶ text

No function of the user's runs: modules are imported, and the compiler infers.
"""

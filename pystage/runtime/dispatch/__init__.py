"""From a call to the specialisation that serves it."""

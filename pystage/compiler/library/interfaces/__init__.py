"""The interfaces of inference to library functions, a few methods each; `Context` is all of them."""

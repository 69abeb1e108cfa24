"""The server for coding agents, by the Model Context Protocol.

`server` publishes the tools; every call runs in a process of its own (`child`), so that it can be ended; `tools` does
the work with the functions of the command line; `limits` keeps an answer short enough to be read.
"""

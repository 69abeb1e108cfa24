"""Where the calls of compiled code are counted: the requests, their names, the file that counts and its imports."""

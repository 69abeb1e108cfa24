"""One file per codemod, in a folder for its subject; adding a file (and its fixtures folder) is all a new one takes."""

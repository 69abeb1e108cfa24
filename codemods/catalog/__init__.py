"""One file per codemod; adding a file here (and its fixtures folder) is all that a new one takes."""

"""What code makes anew at every call although it never differs: constant tensors, helper functions, Python values."""

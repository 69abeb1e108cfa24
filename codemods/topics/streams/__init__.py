"""What is known about CUDA streams that wait for each other."""

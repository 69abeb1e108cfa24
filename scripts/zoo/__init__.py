"""Seven models of Hugging Face's, small and with random weights: how torch.compile cuts them up, before and after."""

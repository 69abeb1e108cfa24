"""How torch.compile cuts a program into graphs: counted so that no break is missed."""

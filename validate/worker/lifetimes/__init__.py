"""Which outputs of compiled code outlive their step, found on any machine by keeping the rule of CUDA graphs."""

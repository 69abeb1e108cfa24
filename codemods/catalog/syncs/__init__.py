"""Where the host waits for the device."""

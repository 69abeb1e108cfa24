"""What a command has to tell, and the forms it takes."""

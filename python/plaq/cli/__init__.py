"""What commands are made of, and the commands that are not of one application."""

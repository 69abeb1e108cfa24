"""Small programs that break, each with the ids that torch gives; and what the advice of the table makes of them."""

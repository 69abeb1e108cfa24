"""What a case did, as plain values; and what two records differ in."""

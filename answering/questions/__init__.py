"""What a question asks: its parts, and what a follow-up leaves out."""

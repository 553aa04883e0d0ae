"""What tells attention the order of the tokens, one module an array library; backends take it from here."""

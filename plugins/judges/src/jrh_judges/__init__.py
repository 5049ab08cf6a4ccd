"""Judge with a chat model, or with your own Python callable, HTTP endpoint or command."""

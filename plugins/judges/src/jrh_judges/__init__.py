"""Judge with a chat model, or with your own Python callable, HTTP endpoint or command.

Where to start: `llm` asks a model through the gateway, by the templates in `prompts/` or those of the suite.

* `defences` shows the item's fields between delimiters, and protects against text that is addressed to the judge.
* `inhouse` asks judges of your own and reads their answers, which may be of many forms.
* `allocators` drops judges that fail.

Not here: parsers, retries, caching and limits. A judge asks once and returns what it got.
"""

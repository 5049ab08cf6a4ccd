"""What authors of perturbations and judges build on: text written by a model, rule-based edits, and checks of both.

Start with `generation.py`, which asks a model until its text can be used, or with `wording.py`, which edits by rules.

- Texts by a model: `generation`, `rewriting` (a whole perturber around it), `texts` (is a reply a usable text, and in
  the same language?), `structured` (the JSON object in a reply), `thinking` (a reply without the model's thoughts).
- Prompts: `templates` renders them, `template_sandbox` bounds what they may grow to, `transcript_text` writes
  transcripts.
- Edits: `wording`; attacks on judges and their notation: `attacks`; comparison of texts by vectors: `embeddings`.
- Judges that are code of the user: `own_code` (callables), `own_endpoints` (HTTP). Options that many share:
  `choices`.
- Commands of the kernel's program: `commands` (init, schema, doctor), `listing` (list, show), `ping`, with their work
  in `starter`, `suite_reading`, `suite_schema` and `doctor`.

Not here: calls of models themselves (the kernel's gateway), the wire of providers (jrh-chat), statistics (jrh-stats).
Names are loaded on first use, so that a plugin which declares its components imports no Jinja2 and no numpy.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

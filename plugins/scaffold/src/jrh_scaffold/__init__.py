"""Write the first version of a jrh plugin: `jrh plugins new`.

`writing.py` checks the name and renders the template below `template/`, as a package with copier or as one file with
Jinja2 alone; both come from the same text in `template/kinds/`. `commands.py` is the command.
"""

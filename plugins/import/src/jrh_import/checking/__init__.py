"""Check judges against people from one table: no suite and no import file.

Start with `measurement`: it reads the table, writes the import file that describes it, and measures by that file.
`check_request` is what the user asked, `labels` finds the scale and the spellings, `repeats` tells reruns from
copies, `answers` says for each judge whether it is good enough, and `rendering` shows all of it as text or JSON.
"""

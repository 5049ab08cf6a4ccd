"""Read the exports of other tools: a description per tool, and one reader."""

"""One module for each page: it reads what the page shows and hands it to the template of its name."""

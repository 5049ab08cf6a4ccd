"""A classical judge: TF-IDF and style statistics under linear models, cross-fitted, without key or network."""

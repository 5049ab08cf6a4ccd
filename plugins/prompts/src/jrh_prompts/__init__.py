"""How a judge is asked: templates, polarity, scale and rubric."""

"""How a judge is asked: templates, polarity, option order, scale, rubric; and what a data set cannot show."""

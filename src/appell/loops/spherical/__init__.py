"""Spherical parallel robots in closed form: the Agile Wrist of abedloo2014, the star-triangle of enferadi2010."""

"""Tables as people have them: columns, times, coordinates, order, and where in a file something is wrong."""

"""Coarser places: polygons, cells, and rectangles in which enough people were."""

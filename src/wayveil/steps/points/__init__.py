"""Steps on GPS points that leave points: cleaned, cut into trips, resampled, marked."""

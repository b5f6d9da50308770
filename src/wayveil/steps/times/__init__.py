"""Steps on the times of visits and stops: buckets, periods, days, typical weeks."""

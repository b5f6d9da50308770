"""Who fits what an attacker knows."""

"""Meanings that wrap others: functions applied along axes, and those that bfloat16 is refused for."""

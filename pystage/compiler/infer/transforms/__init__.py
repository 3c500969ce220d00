"""Derivatives, lanes and custom rules of functions inside staged source."""

"""Calls that leave the process: connections, time limits, retries, error mapping."""

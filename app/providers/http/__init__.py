"""Calls that leave the process: connections, time limits, retries, circuit breaker, error mapping."""

"""What a sentence claims, which stretch of a chunk supports it, and how well."""

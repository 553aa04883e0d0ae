"""What pytest loads wherever attnspec is installed."""

"""An OpenAI-compatible endpoint in front of another one, which adds what a workspace knows."""

"""Language models as agents: `llm:MODEL` at any endpoint with OpenAI's chat API (docs/llm.md)."""

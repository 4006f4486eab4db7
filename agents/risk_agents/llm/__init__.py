"""Language models as agents: `llm:MODEL` at any endpoint that speaks OpenAI's chat API (docs/llm.md)."""

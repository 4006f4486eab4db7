"""Risk for clients of the Model Context Protocol: `risk-env mcp` (docs/llm.md)."""

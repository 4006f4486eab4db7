"""Server of Risk for the Model Context Protocol (MCP): `risk-env mcp` (docs/llm.md)."""

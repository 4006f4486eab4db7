"""Server for the Model Context Protocol (MCP), through which clients play Risk: `risk-env mcp`."""

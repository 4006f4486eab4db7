"""Limits of the web server and the MCP server: host names, request rates, connections and logs."""

"""How knowledge gets into the cache: forges, the wiki reader, the sync plan and its worker. No MCP here."""

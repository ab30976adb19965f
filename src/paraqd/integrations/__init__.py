"""Connect paraqd to other tools. Each module needs only the tool that it is named after; see docs/integrations.md."""

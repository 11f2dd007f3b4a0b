"""Pure edits on a memory: links, rewrites, names, scopes; nothing here touches a file or store."""

"""The calls of the wire, one class a room; keyword names are the wire's (`cls` is `class` there)."""

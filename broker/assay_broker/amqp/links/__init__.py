"""Link endpoints: what the client sends, receives, browses and asks for, and its transactions."""

"""What administrators ask for: objects defined and shown, authorities, native puts and gets."""

"""The server's endpoints of links, for sending, receiving, browsing, requests and transactions."""

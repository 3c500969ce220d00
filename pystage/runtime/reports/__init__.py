"""Reports about programs: messages, the ledger, and texts of compiled programs."""

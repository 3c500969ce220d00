"""Reports about programs: messages, the ledger, the texts of compiled programs."""

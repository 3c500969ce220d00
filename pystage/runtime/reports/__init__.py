"""What is told of programs: messages, the ledger, the texts of compiled programs."""

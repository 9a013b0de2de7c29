"""Several drafts for one position: the limit of what any verifier keeps, and the rules that come near it."""

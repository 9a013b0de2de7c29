"""specsim tune: the best parameters of a rule at a given expected number of accepted drafts a block."""

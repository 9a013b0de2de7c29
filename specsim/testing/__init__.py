"""Testing a rule or decoder of one's own: assertions, strategies and statements for any test suite.

Needs Hypothesis.  specsim itself never imports this package.
"""

"""`specsim cost`: what a decoder's run costs when calls have prices, and which lookahead or window pays best."""

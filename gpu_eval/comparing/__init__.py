"""The sampled side of `specsim compare`: rules tuned on pilot images, then judged by images of other seeds."""

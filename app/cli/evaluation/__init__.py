"""Measure and calibrate: `garden eval` and `garden calibrate`.

measures    question files, and rates over what came back
run         `garden eval`           calibrate  `garden calibrate`
samples     question-chunk pairs    fit        relevance models and their cross-validation
"""

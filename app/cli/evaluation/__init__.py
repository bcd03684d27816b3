"""Measure and calibrate: `garden eval` and `garden calibrate`.

questions   question files          measures   rates over what came back
run         `garden eval`           calibrate  `garden calibrate`
samples     question-chunk pairs    fit        relevance models and their cross-validation
headings    questions made of a collection's headings
"""

"""The text of regression tests that go into the user's tests folder together with a finding.

    checks = [
        no_direct_call("scorer", [".scorer"], ["Controller._run_scorer"], sources_of(project, self.tests), self.tests),
        marks_each_step("run_scorer", setup, call, imports),
        compiles_in_one_graph("score", setup, "score", "torch.ones(2, 3)", imports),
    ]
    edits += new_test(project, self.tests, "run_scorer", regression_test("Scorer runs through its boundary.", checks))

file.py     Check (functions, shared definitions, imports), regression_test(docstring, checks) for the text,
            new_test(project, folder, stem, text) for the edit that creates it, under a name that no other file has
layout.py   lines in 88 columns, as ruff breaks them: checks need not care how long a name is
sources.py  no_direct_call: an ast check over the project's source; sources_of(project, tests) are its files
steps.py    marks_each_step; REUSES_ITS_BUFFER stands in for a compiled callable under CUDA graphs
graphs.py   compiles_in_one_graph: with fullgraph=True and, where torch has it, under error_on_graph_break

`setup` is lines of code at the start of a test, `call` an expression, `imports` import lines as one would write them.
The files need torch and pytest only, and are written for Python 3.9 and torch 2.6 and later.
"""

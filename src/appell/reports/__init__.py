"""Reports: tables with verdicts and figures, on a terminal, as JSON and as HTML.

Read verdict.py, table.py and report.py, then page.py and collection.py; bars.py and machine.py serve benchmarks.
"""

"""What computations leave behind: tables, figures and reports, on a terminal, as JSON and as files."""

// Search results fetch their pages for a summary, which browsers refuse from disk: no summaries there.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

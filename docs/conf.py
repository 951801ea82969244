"""The documentation: Markdown pages beside the docstrings. No page of it needs the internet."""

project = "regard"
author = "the regard authors"
copyright = "the regard authors, Apache-2.0"  # noqa: A001
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = "regard"
exclude_patterns = ["_build"]
autodoc_typehints = "signature"
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}

"""MkDocs hook that adds the pages of benchmarks/ to the site.

Links between docs/ and benchmarks/ are written as they work in the repository; here they become those of the site.
"""

from pathlib import Path

from mkdocs.structure.files import File


def on_files(files, config):
    """Add benchmarks/*.md."""
    for page in sorted((Path(config.config_file_path).parent / "benchmarks").glob("*.md")):
        content = page.read_text().replace("](../docs/", "](../")
        files.append(File.generated(config, f"benchmarks/{page.name}", content=content))
    return files


def on_page_markdown(markdown, page, **_):
    """Point links to ../benchmarks/ at the pages of the site."""
    up = "../" * page.file.src_uri.count("/")
    return markdown.replace(f"](../{up}benchmarks/", f"]({up}benchmarks/")

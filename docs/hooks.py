"""MkDocs hook that adds the pages of benchmarks/ and the figures of examples/ to the site.

Links from docs/ to these folders are written as they work in the repository; here they become those of the site.
"""

from pathlib import Path

from mkdocs.structure.files import File


def on_files(files, config):
    """Add benchmarks/*.md and examples/*/*.png."""
    root = Path(config.config_file_path).parent
    for page in sorted(root.glob("benchmarks/*.md")):
        content = page.read_text().replace("](../docs/", "](../")
        files.append(File.generated(config, f"benchmarks/{page.name}", content=content))
    for figure in sorted(root.glob("examples/*/*.png")):
        files.append(File.generated(config, str(figure.relative_to(root)), abs_src_path=str(figure)))
    return files


def on_page_markdown(markdown, page, **_):
    """Point links to ../benchmarks/ and figures of ../examples/ at the site."""
    up = "../" * page.file.src_uri.count("/")
    for folder in ("benchmarks", "examples"):
        markdown = markdown.replace(f"](../{up}{folder}/", f"]({up}{folder}/")
    return markdown

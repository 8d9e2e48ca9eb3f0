"""MkDocs hook that adds the pages of benchmarks/ to the site."""

from pathlib import Path

from mkdocs.structure.files import File


def on_files(files, config):
    """Add benchmarks/*.md, with links relative to docs/."""
    for page in sorted((Path(config.config_file_path).parent / "benchmarks").glob("*.md")):
        content = page.read_text().replace("](../docs/", "](../")
        files.append(File.generated(config, f"benchmarks/{page.name}", content=content))
    return files

"""``plaq dca`` without figures and reports, which take most of the time of a short run."""

from plaq.dca.application import Dca


def leave_out(setattr=setattr):
    """Leave figures and reports out, with Python's setattr or a monkeypatch's."""
    setattr(Dca, "write_report", classmethod(lambda cls, folder, run: folder))


if __name__ == "__main__":
    leave_out()
    from plaq.main import main

    main()

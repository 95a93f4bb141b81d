"""Where the process begins: streams that are closed are opened and Ctrl-C is taken care of, before anything that takes time is loaded."""

from __future__ import annotations

import os
import sys

from piiloom.foundation.quick_end import EXIT_CODE, LINE, end_at_once, end_silently, end_without_teardown

_INTERRUPTED_JSON = (
    '{\n  "error": {\n    "code": "interrupted",\n    "message": "interrupted",\n    "where": null,\n    "remedy": null\n  }\n}'
)


def main() -> int:
    """Be the console script; gives the exit code."""
    end_without_teardown()
    end_at_once(also_say=_INTERRUPTED_JSON if "--json" in sys.argv else "")
    from piiloom.foundation.startup import collect_less_often, open_closed_streams  # noqa: PLC0415 - after the handler: it takes time to load

    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for them reads what is installed, for 20 ms
    collect_less_often()
    open_closed_streams()
    from piiloom.cli.main import run  # noqa: PLC0415

    try:
        code = run()
    except KeyboardInterrupt:  # it came while another error was told
        sys.stderr.write(f"{LINE}\n")
        code = EXIT_CODE
    end_silently(code)
    return code

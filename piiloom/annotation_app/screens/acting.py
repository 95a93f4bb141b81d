"""What a button does, and what is said about it afterwards.

A click has Streamlit draw the page anew, and the next click stops that drawing. What a page does when its drawing comes to the button is
lost if somebody is quick. So buttons act in their callbacks, before anything is drawn. There the fields of a form are read by their keys.
A callback is stopped too if it draws, or if it reads or writes an item of the session state; so ``act`` does neither once it has begun,
and ``fields`` reads all at once. The browser holds the next click until then (``page_clicks.js``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person, Role, require
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.foundation.errors import PiiloomError

# A sentence, or a sentence and whether all went well, or nothing.
Outcome = str | tuple[str, bool] | None
_numbers = count()


def field(form: str, name: str) -> str:
    """Return the key of the field *name* of *form*."""
    return f"{form}:{name}"


def choice_field(form: str, name: str, options: Sequence[object]) -> str:
    """As ``field``, for a choice among *options*. Where there were none, the first ones begin a new field, with the first one chosen."""
    return field(form, name if options else f"{name}, of none")


def fields(form: str) -> dict[str, Any]:
    """Return what the fields of *form* hold, by name; in a callback that is what was sent by the click."""
    start = field(form, "")
    return {str(key).removeprefix(start): value for key, value in st.session_state.to_dict().items() if str(key).startswith(start)}


def act(role: Role, deed: Callable[[Person], Outcome]) -> None:
    """Do *deed* for the current person; a callback. ``with_outcomes`` then says what *deed* returned, or the error that it raised.

    The role is checked anew: a page may be older than the person's role.
    """
    outcomes = this_tab().outcomes
    try:
        said = deed(require(current_person(), role))
    except PiiloomError as error:
        said = str(error), False
    if said:
        sentence, went_well = (said, True) if isinstance(said, str) else said
        outcomes[next(_numbers)] = sentence, went_well


# ``act`` for the buttons of admins.
BY_ADMIN: Final = partial(act, "admin")


@contextmanager
def with_outcomes() -> Iterator[None]:
    """Say what the last clicks did, above what is drawn in this context; a decorator of pages and fragments.

    What was said is forgotten when all is drawn: a drawing that another click stops may never have been seen.
    """
    outcomes = this_tab().outcomes
    shown = dict(outcomes)
    with st.container():  # always drawn, so that what follows keeps its place (tabs that move jump back to the first)
        for sentence, went_well in shown.values():
            (st.success if went_well else st.warning)(escape_markdown(sentence))
    yield
    for number in shown:
        outcomes.pop(number, None)

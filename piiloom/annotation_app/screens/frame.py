"""The frame of all pages: identifies the person, builds the navigation for that role, and offers login and log-out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from piiloom.annotation_app.people.accounts import AppRole, AppUser
from piiloom.annotation_app.screens.adjudication import adjudication_page
from piiloom.annotation_app.screens.admin import admin_page
from piiloom.annotation_app.screens.dashboard import dashboard_page, own_work_page, read_ahead
from piiloom.annotation_app.screens.editor import mount_page
from piiloom.annotation_app.screens.learning import guidelines_page, training_page
from piiloom.annotation_app.screens.showing import escape_markdown
from piiloom.annotation_app.screens.tab_state import address_of, addressed_record, load_beside, this_tab
from piiloom.annotation_app.screens.work import records_page, work_page
from piiloom.annotation_app.serving.current_user import (
    LOGIN_PATH,
    current_person,
    log_out_of_provider,
    login_config,
    logout_form,
    page_was_anothers,
    providers,
    stranger,
)

_LONE = "You are not logged in"
# Less padding than Streamlit's own, and the name of the person in the corner of the navigation bar. Streamlit draws captions and what is
# chosen with less contrast than 4.5 to 1.
_STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding: 4.25rem 2.5rem 2rem; max-width: 96rem; }
.st-key-piiloom_person { position: fixed; top: 0.8rem; right: 2.5rem; width: auto; z-index: 999991; gap: 0.75rem; }
.st-key-piiloom_person [data-testid="stText"] { font-size: 0.85rem; opacity: 0.75; }
.st-key-piiloom_person form { margin: 0; }
.st-key-piiloom_person form button { font: inherit; font-size: 0.85rem; color: inherit; background: none; cursor: pointer;
  border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-radius: 0.4rem; padding: 0.15rem 0.6rem; }
.st-key-piiloom_person form button:hover { border-color: currentColor; }
.st-key-piiloom_person form button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] * { color: inherit !important; }
[data-testid="stCaptionContainer"] { opacity: 0.8; }
[data-testid="stTab"][aria-selected="true"], [data-testid="stTab"][aria-selected="true"] * { color: inherit !important; font-weight: 600; }
[data-testid="stButtonGroup"] *, [data-testid="stSlider"] * { color: inherit !important; }
.st-key-piiloom_guidelines { max-width: 80ch; }
@media (max-width: 1050px) { .st-key-piiloom_person [data-testid="stText"] { display: none; } }
@media (max-width: 800px) { [data-testid="stMainBlockContainer"] { padding: 4.25rem 1rem 2rem; } }
</style>"""


@dataclass(frozen=True, slots=True)
class NavigationPage:
    """One page: its URL path, its title, the role it needs, and the function that draws it."""

    path: str
    title: str
    role: AppRole
    draw: Callable[[AppUser], None]


SCREENS = (
    NavigationPage("work", "Annotate", "annotator", work_page),
    NavigationPage("records", "Records", "annotator", records_page),
    NavigationPage("adjudicate", "Adjudicate", "adjudicator", adjudication_page),
    NavigationPage("guidelines", "Guidelines", "annotator", guidelines_page),
    NavigationPage("training", "Training", "annotator", training_page),
    NavigationPage("mine", "My work", "annotator", own_work_page),
    NavigationPage("dashboard", "Dashboard", "adjudicator", dashboard_page),
    NavigationPage("admin", "Admin", "admin", admin_page),
)


def draw_app() -> None:
    """Draw the requested page if the person may see it, or the login page if nobody is logged in."""
    st.set_page_config(page_title="piiloom", layout="wide", initial_sidebar_state="collapsed")
    st.html(_STYLE)
    mount_page()
    person = current_person()
    if person is None:
        # The login page at every path: an old link must neither fail nor reveal which pages exist.
        lone = [st.Page(_way_in, title=_LONE, url_path=screen.path) for screen in SCREENS]
        st.navigation([_home(_way_in), *lone], position="hidden").run()
        return
    if person.may("adjudicator"):
        load_beside(read_ahead)  # loads libraries and finished records for the dashboard
    allowed = [screen for screen in SCREENS if person.may(screen.role)]
    pages = [st.Page(partial(_drawn, screen), title=screen.title, url_path=screen.path) for screen in allowed]
    chosen = st.navigation([_home(_to_work), *pages], position="top")
    tab = this_tab()
    tab.pages = {screen.path: page for screen, page in zip(allowed, pages, strict=True)}
    if tab.leaving_for:
        wanted, tab.leaving_for = tab.leaving_for, ""
        st.switch_page(tab.pages[wanted])
    with st.container(key="piiloom_person", horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        _show_person(person)
    chosen.run()


def _home(draw: Callable[[], None]) -> StreamlitPage:
    """Return the page at the root path.

    It is a page of its own, since the default page has no path for Streamlit: ``/work`` would not be found.
    """
    return st.Page(draw, title="piiloom", url_path="home", default=True, visibility="hidden")


def _to_work() -> None:
    st.switch_page(this_tab().pages[SCREENS[0].path])


def _drawn(screen: NavigationPage) -> None:
    """Draw *screen* after checking the person again: the page may run long after the frame."""
    person = current_person()
    if person is None or not person.may(screen.role):
        st.warning("You may not see this page.")
        return
    this_tab().enter(screen.path)
    st.set_page_config(page_title=f"{screen.title} · piiloom")  # the browser's tabs and history tell pages apart
    screen.draw(person)


def _way_in() -> None:
    st.set_page_config(page_title="Log in · piiloom")
    st.subheader(_LONE)
    if page_was_anothers():
        st.write("Your session has ended. What you had saved is safe.")
    st.html(f'<p><a href="{LOGIN_PATH}{address_of(addressed_record())}" target="_self">Log in</a></p>')
    if login_config().oidc and stranger(login_config()):
        st.write("Your organisation knows you, but you have no account here. Ask an admin of this project for one.")
        st.button("Log out", on_click=log_out_of_provider, args=(login_config(),))
    elif login_config().oidc:
        for provider in providers():
            st.button(
                f"Log in with {escape_markdown(provider or 'your organisation')}",
                key=f"login-{provider}",
                on_click=st.login,
                args=(provider,),
            )


def _show_person(person: AppUser) -> None:
    st.text(f"Logged in as {person.display} ({person.role})")
    form = logout_form()
    if form is not None:
        st.html(form)
    elif login_config().oidc:
        st.button("Log out", on_click=log_out_of_provider, args=(login_config(),))

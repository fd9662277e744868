"""Errors in Python sources, by their syntax."""

from __future__ import annotations

import pytest

from sync.corpora.swarmkit.error_sites import Site, exceptions, sites


def raised(arguments: str, before: str = "") -> Site:
    (site,) = sites(f"{before}\nResolutionError({arguments})".encode())
    return site


class TestCodes:
    @pytest.mark.parametrize(
        "arguments",
        [
            'code="a.b-c", message="m"',
            '"a.b-c", "m", path',
            'code=CODE, message="m"',
            '**more, code="a.b-c", message="m"',
        ],
    )
    def test_a_code_is_a_literal_or_a_name_for_one(self, arguments: str) -> None:
        site = raised(arguments, 'CODE = "a.b-c"')
        assert (site.code, site.message) == ("a.b-c", "m")

    def test_a_builder_of_errors_counts_too(self) -> None:
        source = b'def build(code): return ResolutionError(code=code)\nbuild(code="a.b")\nexit(code=2)\n'
        assert [site.code for site in sites(source)] == ["a.b"]

    def test_each_place_is_told_with_its_line(self) -> None:
        source = b'ResolutionError(code="a.b")\n\nerrors.ResolutionError(code="a.b")\n'
        assert sorted((site.code, site.line) for site in sites(source)) == [("a.b", 1), ("a.b", 3)]

    def test_a_mapping_from_rules_has_codes_and_so_has_what_is_looked_up_in_it(self) -> None:
        source = b'# ResolutionError\nM: dict = {"required": "s.r", "type": "s.t"}\nM.get(x, "s.o")\nN.get(x, "s.n")\n'
        assert sorted((site.code, site.rule) for site in sites(source)) == [
            ("s.o", ""),
            ("s.r", "required"),
            ("s.t", "type"),
        ]

    @pytest.mark.parametrize(
        "source",
        [
            b'Other(code="a.b")',  # a file that knows no such error
            b'ResolutionError(code=f"{x}.y")',
            b'ResolutionError(code="No Code")',
            b"# ResolutionError\nx = {}",
            b'# ResolutionError\nx = {"a": "no code", "b": "c.d"}',
            b"ResolutionError(",
            b"\xff ResolutionError",
            b"ResolutionError\0",
        ],
    )
    def test_what_is_none_is_none(self, source: bytes) -> None:
        assert sites(source) == ()


class TestTemplates:
    @pytest.mark.parametrize(
        ("expression", "template"),
        [
            ('"plain"', "plain"),
            ('"one "\n"two"', "one two"),
            ('"one " + "two"', "one two"),
            ("f\"Agent {agent.id!r} is {', '.join(x)}\"", "Agent {agent.id} is {…}"),
            ('("a" if x else "b")', "a / b"),
            ("local", "from a {name}"),
            ("str(other)", ""),
            ("None", ""),
        ],
    )
    def test_a_text_is_a_template(self, expression: str, template: str) -> None:
        assert raised(f'code="a.b", message={expression}, suggestion={expression}', 'local = f"from a {name}"') == Site(
            "a.b", 2, template, template
        )

    def test_a_name_means_what_the_function_says(self) -> None:
        source = (
            b'hint = "outer"\ndef f():\n    hint = "inner"\n    return ResolutionError(code="a.b", suggestion=hint)\n'
        )
        assert [site.suggestion for site in sites(source)] == ["inner"]

    def test_a_name_that_means_itself_is_no_loop(self) -> None:
        assert raised('code="a.b", message=x', "x = x + y\ny = x").message == ""

    def test_the_text_of_an_exception_is_that_of_its_class(self) -> None:
        source = (
            b"def bridge(exc: errors.TooDeep): return ResolutionError(code='a.b', message=str(exc))\n"
            b"try: pass\nexcept (Unsaid, X) as e: ResolutionError(code='a.c', message=str(e))\n"
        )
        assert {site.code: site.exception for site in sites(source)} == {"a.b": "TooDeep", "a.c": "Unsaid"}


class TestExceptions:
    SOURCE = b'''
class TooDeep(Exception):
    """Docs."""
    def __init__(self, path):
        super().__init__(f"The file {path} lies too deep.")

class Unsaid(Base):
    """Said in
    the docs.

    Not here."""

class Other(Exception): ...
'''

    def test_one_says_what_it_hands_on_or_what_its_docstring_says(self) -> None:
        assert exceptions(self.SOURCE, {"TooDeep", "Unsaid", "Missing"}) == {
            "TooDeep": "The file {path} lies too deep.",
            "Unsaid": "Said in the docs.",
        }

"""The question in a long prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.question import question_of

PREAMBLE = "You are a careful assistant. Read everything, then answer.\n" * 8


@pytest.mark.case("mempalace-62")
class TestQuestion:
    @pytest.mark.parametrize("prompt", ["", "why jwt", "x" * 200, "a? b? c"])
    def test_up_to_200_characters_are_taken_as_they_are(self, prompt: str) -> None:
        assert question_of(prompt) == prompt

    @pytest.mark.parametrize("question", ["Why did we choose JWT?", "为什么选择JWT？", "لماذا؟"])
    def test_a_long_prompt_gives_the_question_at_its_end(self, question: str) -> None:
        assert question_of(PREAMBLE + question) == question

    def test_the_last_question_counts(self) -> None:
        prompt = "What is this?\n" + PREAMBLE + "Why did we choose JWT?\nPlease be short."
        assert question_of(prompt) == "Why did we choose JWT?"

    def test_of_a_long_line_its_last_sentence(self) -> None:
        line = "Here is a sentence of some length. " * 12 + "Why did we choose JWT?"
        assert question_of(line) == "Why did we choose JWT?"

    def test_without_a_question_the_last_line_that_says_something(self) -> None:
        assert question_of(PREAMBLE + "Summarise the queue\nok\n") == "Summarise the queue"

    def test_600_characters_without_a_sentence_give_the_last_250(self) -> None:
        assert question_of("x" * 350 + "y" * 250) == "y" * 250


@given(prompt=st.text(max_size=800))
def test_it_is_a_part_of_the_prompt_and_short(prompt: str) -> None:
    question = question_of(prompt)
    assert question in prompt
    assert len(question) <= 250

"""Bytes and messages: whatever comes is a message or has one answer, with the id of the request it was meant to be."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from gateway.transports.jsonrpc import MAX_MESSAGE, LoneSurrogates, Refused, decode, encode

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def refusal(data: bytes) -> Refused:
    with pytest.raises(Refused) as caught:
        decode(data)
    return caught.value


def id_of(data: bytes) -> RequestId | None:
    return refusal(data).reply.id


class TestMessages:
    @pytest.mark.parametrize(
        "message",
        [
            JSONRPCRequest(jsonrpc="2.0", id="a-1", method="tools/call", params={"name": "x", "arguments": {"q": "ü"}}),
            JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized"),
            JSONRPCResponse(jsonrpc="2.0", id=3, result={}),
            JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=-32600, message="no")),
        ],
    )
    def test_each_kind_comes_back_as_it_was(
        self, message: JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
    ) -> None:
        assert decode(encode(message)) == message

    def test_an_encoded_message_is_one_line_without_lone_surrogates(self) -> None:
        for text in ("a\n\r\x85\u2028\u2029", "a\n\r\x85\u2028\u2029\ud800"):  # Python and Node split at each of these
            line = encode(JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": text}))
            assert json.loads(line)["result"] == {"text": text.replace("\ud800", "\ufffd")}
            assert len(line.decode().splitlines()) == 1

    def test_a_message_with_a_lone_surrogate_can_still_be_told_apart(self) -> None:
        refused = refusal(rb'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\ud800"}}')
        assert isinstance(refused, LoneSurrogates)
        assert refused.message == JSONRPCRequest(jsonrpc="2.0", id=7, method="x", params={"a": "\ud800"})
        assert (refused.reply.id, refused.reply.error.code) == (7, -32602)

    def test_a_pair_of_surrogate_escapes_is_a_character(self) -> None:
        message = decode(rb'{"jsonrpc":"2.0","id":7,"method":"\ud83d\ude00"}')
        assert isinstance(message, JSONRPCRequest)
        assert message.method == "😀"

    def test_one_that_is_too_long_is_refused_with_its_id(self) -> None:
        refused = refusal(PING + b" " * MAX_MESSAGE)
        assert (refused.reply.id, refused.reply.error.message) == (1, "a message has at most 16777216 bytes")
        assert decode(PING + b" " * (MAX_MESSAGE - len(PING)))


class TestTheIdOfWhatIsNoMessage:
    @pytest.mark.parametrize(
        ("data", "id_"),
        [
            (b'{"jsonrpc":"2.0","id":41,"method":"x",', 41),
            (b'{"method":"x","params":{"id":1,"a":[{"id":2}]},"jsonrpc":"2.0","id" : -42,}', -42),
            (b'{"method":"x","id":"a\\"b","params":\x00}', 'a"b'),
            (b'{"method":"x","id":"\\ud800","params":\x00}', None),
            (b'{"method":"x","id":1.5,"params":\x00}', None),
            (b'{"method":"x","params":{"id":43}', None),
            (b'{"method":"x","params":"\\"id\\":44,', None),
            (b'{"id":45,"result":{},}', None),
            (b'[{"id":46,"method":"x"},]', None),
            (b'{"id":47,"method":"x","params":' + b"[{" * 50_000, 47),
            (b'{"method":"x","params":' + b"[" * 50_000 + b"]" * 50_000 + b',"id":48}', 48),
            (b'{"id":49,"method":"x","params":"' + b'\\"' * 50_000, 49),
            (b'{"id":50,"method":"x","params":' + b"9" * 5_000 + b"}", 50),
        ],
    )
    def test_is_found_where_it_is_the_requests_own(self, data: bytes, id_: RequestId | None) -> None:
        assert id_of(data) == id_

    @pytest.mark.parametrize("id_", [b"null", b"1.5", b"true", b"[]", b'"\\ud800"'])
    def test_one_that_the_protocol_does_not_know_is_refused(self, id_: bytes) -> None:
        refused = refusal(PING.replace(b"1", id_))
        assert (refused.reply.id, refused.reply.error.message) == (None, "id must be a string or an integer")

    def test_a_bad_answer_is_not_answered_with_its_id(self) -> None:
        assert id_of(b'{"jsonrpc":"2.0","id":5,"result":7}') is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
_MESSAGES = st.fixed_dictionaries(
    {}, optional={"jsonrpc": st.just("2.0") | _JSON, "id": _JSON, "method": _JSON, "params": _JSON, "result": _JSON}
)


@given(st.binary() | (_MESSAGES | _JSON).map(lambda value: json.dumps(value).encode()))
def test_whatever_comes_is_a_message_or_has_an_answer(data: bytes) -> None:
    try:
        message = decode(data)
    except Refused as refused:
        reply = json.loads(encode(refused.reply))
        assert reply["error"]["message"]
        assert "id" in reply
    else:
        json.loads(encode(message))


@given(st.data())
def test_a_request_that_was_cut_is_answered_with_its_id(data: st.DataObject) -> None:
    line = b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"x","arguments":{"q":[1,"a\\"\\n"]}}}'
    assert id_of(line[: data.draw(st.integers(line.index(b"params"), len(line) - 1))]) == 77

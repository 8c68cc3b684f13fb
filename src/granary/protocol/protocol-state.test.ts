import fc from "fast-check";
import { expect, test } from "vitest";
import { mostKeys, type ParsedLine, readMessage } from "./messages.ts";
import { type Effect, initialState, type ProtocolState, receive } from "./protocol-state.ts";

const hello = parsedLine({ type: "hello", versions: [1] });

const anyHeard: fc.Arbitrary<ParsedLine | undefined> = fc.oneof(
  fc.constantFrom(
    ...[
      { type: "hello", versions: [1, 7] },
      { type: "hello", versions: [9] },
      { type: "build-started", directory: "/w" },
      { type: "hint", keys: ["a", { namespace: "reapi", key: "b/1" }] },
      { type: "approximation", approx: "a", key: "k" },
      { type: "look-up", key: "k" },
      { type: "result", key: "k", outputs: [] },
      { type: "build-ended", exitCode: 0, complete: true },
      { type: "status" },
      { type: "from-the-future", what: 1 },
    ].map(parsedLine),
  ),
  fc.json().map(readMessage),
  fc.string({ unit: "binary" }).map(readMessage),
  fc.constant(undefined),
);

function parsedLine(message: object): ParsedLine {
  return readMessage(JSON.stringify(message));
}

function connection(heards: readonly (ParsedLine | undefined)[], secret?: string) {
  let state: ProtocolState = initialState(secret);
  const effects: Effect[] = [];
  for (const one of heards) {
    const step = receive(state, one);
    state = step.next;
    effects.push(...step.effects);
  }
  return { state, effects };
}

test("for any messages, every started build ends once, and nothing happens after the end", () => {
  fc.assert(
    fc.property(fc.array(anyHeard, { maxLength: 60 }), (said) => {
      const { state, effects } = connection([...said, undefined]);
      expect(state.kind).toBe("over");
      const kinds = effects.map(({ kind }) => kind);
      expect(kinds.indexOf("close")).toBe(kinds.length - 1);
      const turns = kinds.filter((kind) => kind === "start" || kind === "end");
      expect(turns).toEqual(turns.map((_, i) => (i % 2 === 0 ? "start" : "end")));
      expect(turns.length % 2).toBe(0);
    }),
  );
});

test("a client that does not begin with hello gets no answer", () => {
  fc.assert(
    fc.property(anyHeard, (first) => {
      fc.pre(first?.kind !== "message" || first.message.type !== "hello");
      expect(connection([first, hello]).effects).toEqual([{ kind: "close" }]);
    }),
  );
});

test("the highest common version is used; without one the peer is informed, and continues alone", () => {
  const welcome = { kind: "send", answer: { type: "welcome", version: 1 } };
  expect(connection([parsedLine({ type: "hello", versions: [0, 1, 2] })]).effects).toMatchObject([
    welcome,
  ]);
  expect(connection([parsedLine({ type: "hello", versions: [2] })])).toMatchObject({
    state: { kind: "over" },
    effects: [
      { kind: "send", answer: { type: "no-common-version", versions: [1] } },
      { kind: "close" },
    ],
  });
});

test("where any user of the machine can connect, the secret is required", () => {
  for (const secret of [undefined, "", "wrong!", "secret and more"]) {
    const said = parsedLine({ type: "hello", versions: [1], secret });
    expect(connection([said], "secret").effects).toEqual([{ kind: "close" }]);
  }
  const right = parsedLine({ type: "hello", versions: [1], secret: "secret" });
  expect(connection([right], "secret").state.kind).toBe("idle");
});

test("an unknown message gives a note, and a hundred invalid lines close the connection", () => {
  const unknown = parsedLine({ type: "from-the-future", id: 5 });
  expect(connection([hello, unknown]).effects[1]).toMatchObject({
    kind: "send",
    answer: { type: "note", to: 5, note: '"from-the-future" is not a known type of message' },
  });
  expect(connection([hello, ...Array(500).fill(unknown)]).state.kind).toBe("idle");
  expect(connection([hello, ...Array(100).fill(readMessage("{"))]).state.kind).toBe("over");
});

test.each([
  { what: "too many keys", message: { type: "hint", keys: Array(mostKeys + 1).fill("k") } },
  { what: "a key that is a path upwards", message: { type: "look-up", key: "../../etc" } },
  { what: "a key where approximations lie", message: { type: "look-up", key: "approx/a" } },
  { what: "a key and an approximation", message: { type: "look-up", key: "k", approx: "a" } },
  {
    what: "a relative file",
    message: { type: "result", key: "k", outputs: [{ path: "a", file: "b" }] },
  },
  {
    what: "an output upwards",
    message: { type: "result", key: "k", outputs: [{ path: "a/../../b", file: "/b" }] },
  },
  {
    what: "an absolute output",
    message: { type: "result", key: "k", outputs: [{ path: "/a", file: "/b" }] },
  },
  {
    what: "half a commit",
    message: { type: "build-started", repositories: [{ root: "/w", commit: "abc" }] },
  },
])("$what is refused in words", ({ message }) => {
  expect(parsedLine(message)).toMatchObject({ kind: "wrong" });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { plain } from "./style.ts";
import { plainText, styleAfter, type Token, tokenizeLine } from "./tokenize-line.ts";

const esc = "\u001b";
const tokens = (line: string) => tokenizeLine(line, plain);
const shown = (line: string) =>
  tokens(line)
    .map((token) => (token.kind === "mark" ? `<${token.text}>` : token.text))
    .join("");
const colours = (line: string) =>
  tokens(line).flatMap((token) =>
    token.kind === "text" ? [[token.text, token.style.foreground]] : [],
  );

test("a line without escapes is one piece", () => {
  expect(tokens("hello")).toEqual([{ kind: "text", text: "hello", style: plain }]);
  expect(tokens("")).toEqual([]);
});

test.each([
  ["16 colours", `${esc}[31mred${esc}[0m`, [["red", 1]]],
  ["bright colours", `${esc}[92mgreen`, [["green", 10]]],
  ["256 colours", `${esc}[38;5;208morange`, [["orange", 208]]],
  ["true colour", `${esc}[38;2;255;140;0morange`, [["orange", "#ff8c00"]]],
  ["true colour with colons", `${esc}[38:2::255:140:0morange`, [["orange", "#ff8c00"]]],
  [
    "an empty parameter as reset",
    `${esc}[31ma${esc}[mb`,
    [
      ["a", 1],
      ["b", undefined],
    ],
  ],
  ["a colour out of range as none", `${esc}[38;5;999mx`, [["x", undefined]]],
  ["equal styles as one piece", `${esc}[31ma${esc}[31mb`, [["ab", 1]]],
])("reads %s", (_, line, expected) => {
  expect(colours(line)).toEqual(expected);
});

test("parses bold, underline and inverse, and their ends", () => {
  const [bold, both, none] = tokens(`${esc}[1ma${esc}[4;7mb${esc}[22;24;27mc`);

  expect(bold).toMatchObject({ style: { bold: true, underline: false } });
  expect(both).toMatchObject({ style: { bold: true, underline: true, inverse: true } });
  expect(none).toEqual({ kind: "text", text: "c", style: plain });
});

test("a style continues in the next line", () => {
  expect(styleAfter(`${esc}[1;31mred`, plain)).toMatchObject({ foreground: 1, bold: true });
  expect(styleAfter(`${esc}[1;31mred${esc}[0m`, plain)).toBe(plain);
});

test.each([
  ["cursor movement and clearing", `a${esc}[2J${esc}[H${esc}[10;20Hb`, "ab"],
  ["private modes", `${esc}[?1049h${esc}[?25lx`, "x"],
  ["xterm's modifyOtherKeys, which also ends in m", `${esc}[>4;1mx`, "x"],
  ["character sets", `${esc}(B${esc})0x`, "x"],
  [
    "a hyperlink's target (OSC 8)",
    `${esc}]8;;javascript:alert(1)${esc}\\here${esc}]8;;${esc}\\`,
    "here",
  ],
  ["a clipboard write (OSC 52)", `${esc}]52;c;cm0gLXJm\u0007x`, "x"],
  ["a title (OSC 0)", `${esc}]0;title\u0007x`, "x"],
  ["device control strings", `${esc}P1$q"p${esc}\\x`, "x"],
])("drops %s", (_, line, expected) => {
  expect(shown(line)).toBe(expected);
});

test.each([
  ["bell and null", "a\u0007b\u0000", "a<BEL>b<NUL>"],
  ["backspace", "ab\b", "ab<BS>"],
  ["an eight-bit control sequence", "\u009b31mx", "<U+009B>31mx"],
  ["a bidi override", "\u202egnp.exe", "<U+202E>gnp.exe"],
  ["an invisible space", "a\u200bb", "a<U+200B>b"],
  ["a string that never ends", `${esc}]0;hidden?`, "<ESC>]0;hidden?"],
  ["a sequence that never ends", `${esc}[31`, "<ESC>[31"],
  ["a lone escape", esc, "<ESC>"],
])("makes visible: %s", (_, line, expected) => {
  expect(shown(line)).toBe(expected);
});

test("markup stays text", () => {
  const line = `<script>alert(1)</script><img src=x onerror="alert(1)">`;

  expect(tokens(line)).toEqual([{ kind: "text", text: line, style: plain }]);
});

test.each([
  ["see https://vite.dev/guide.", ["https://vite.dev/guide"]],
  ["(http://127.0.0.1:8080/a?b=c#d)", ["http://127.0.0.1:8080/a?b=c#d"]],
  ["javascript:alert(1) data:text/html,x file:///etc/passwd", []],
  ["JAVASCRIPT:https", []],
])("finds the links of %s", (line, expected) => {
  const links = tokens(line).filter(
    (token): token is Token & { kind: "link" } => token.kind === "link",
  );

  expect(links.map((link) => link.text)).toEqual(expected);
});

test.each([
  ["colour changes", `${esc}[31mx`],
  ["strings that never end", `${esc}]`],
  ["device strings that never end", `${esc}P`],
  ["unfinished sequences", `${esc}[1;`],
  ["lone escapes", esc],
  ["bells", "\u0007"],
])("a million %s in one line become few pieces", (_, part) => {
  // Quadratic work would exceed the test's timeout.
  expect(tokens(part.repeat(1_000_000)).length).toBeLessThan(1_100);
});

test("shows how much of a very long line is hidden", () => {
  const last = tokens(`${esc}[31mx${esc}[32my`.repeat(2_000)).at(-1);

  expect(last).toMatchObject({ kind: "more" });
  expect(last?.text).toContain("more characters");
});

test("for any line, the visible text contains no escape or bidi control", () => {
  const hostile = fc.array(
    fc.oneof(
      fc.constantFrom(
        esc,
        "[",
        "]",
        "m",
        ";",
        "38;5;1",
        "\u0007",
        "\\",
        "\u202e",
        "\u009b",
        "P",
        "a",
      ),
      fc.string(),
    ),
  );
  fc.assert(
    fc.property(hostile, (parts) => {
      const line = parts.join("");
      const text = tokens(line)
        .map((token) => token.text)
        .join("");
      // oxlint-disable-next-line no-control-regex
      const active = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
      expect(text).not.toMatch(active);
    }),
  );
});

test("a search reads the text without its colours", () => {
  expect(plainText(`${esc}[31mer${esc}[1mror${esc}[0m\u0007`)).toBe("error");
});

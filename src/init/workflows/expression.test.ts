import { expect, test } from "vitest";
import { evaluateExpression, fillExpressions } from "./expression.ts";

const context = new Map<string, string | number | boolean>([
  ["github.event_name", "push"],
  ["runner.os", "Linux"],
  ["matrix.node", 20],
  ["matrix.config.os", "linux"],
]);

test.each([
  ["true", true],
  ["github.event_name == 'push'", true],
  ["github.event_name == 'PUSH'", true],
  ["runner.os != 'Windows' && matrix.node >= 18", true],
  ["!(runner.os == 'Linux') || matrix.node < 20", false],
  ["contains('a,b', 'b')", true],
  ["startsWith('refs/tags', 'refs/heads')", false],
  ["always()", true],
  ["failure()", false],
  ["'it''s'", "it's"],
  ["false && secrets.TOKEN", false],
  ["secrets.TOKEN == '' || true", true],
  ["matrix.extra || 'none'", "none"],
  ["inputs.debug == true", false],
  ["github.event.inputs.level == ''", true],
  ["format('py{0}-{{{1}}}', matrix.node, runner.os)", "py20-{Linux}"],
])("%s is %s", (text, value) => {
  expect(evaluateExpression(text, context)).toBe(value);
});

test.each([
  ["secrets.TOKEN", /needs secrets.TOKEN/],
  ["github.ref == 'refs/heads/main'", /needs github.ref/],
  ["hashFiles('**/lock')", /calls hashFiles\(\)/],
  ["matrix.config", /needs matrix.config/],
  ["matrix.NODE", /needs matrix.NODE/],
  ["(true", /lacks a closing bracket/],
  ["a ? b : c", /cannot be read/],
  ["true true", /unexpected true/],
  ["", /ends too early/],
])("%s is refused with the reason", (text, reason) => {
  expect(() => evaluateExpression(text, context)).toThrow(reason);
});

test("fills the expressions of a text, and leaves the shell's variables alone", () => {
  expect(fillExpressions("node ${{ matrix.node }} ${HOME} $X", context)).toBe("node 20 ${HOME} $X");
});

import { Fault } from "#core/fault.ts";

export type ExpressionValue = string | number | boolean | null;

/** The values that an expression may name, by their whole name: `matrix.node`, `runner.os`. */
export type ExpressionContext = ReadonlyMap<string, ExpressionValue>;

/**
 * Evaluates an expression of GitHub's workflows, without its `${{ }}`.
 *
 * Throws `unimplemented` with the reason when the value is only known when the workflow runs. Parts that need not be
 * evaluated may be unknown: `false && secrets.TOKEN` is false.
 */
export function evaluateExpression(text: string, context: ExpressionContext): ExpressionValue {
  const tokens = tokensOf(text);
  let at = 0;
  const next = () => tokens[at];
  const take = (token: string) => next() === token && ++at > 0;

  // A term is evaluated lazily: only when its value affects the result.
  type Term = () => ExpressionValue;

  function either(): Term {
    const terms = [both()];
    while (take("||")) terms.push(both());
    return () => firstThat(terms, truthy);
  }
  function both(): Term {
    const terms = [comparison()];
    while (take("&&")) terms.push(comparison());
    return () => firstThat(terms, (value) => !truthy(value));
  }
  function comparison(): Term {
    const left = unary();
    const operator = ["==", "!=", "<=", ">=", "<", ">"].find((each) => take(each));
    if (operator === undefined) return left;
    const right = unary();
    return () => compare(operator, left(), right());
  }
  function unary(): Term {
    if (take("!")) {
      const term = unary();
      return () => !truthy(term());
    }
    if (take("(")) {
      const term = either();
      if (!take(")")) throw notKnown(text, "lacks a closing bracket");
      return term;
    }
    return primary();
  }
  function primary(): Term {
    const token = tokens[at++];
    if (token === undefined) throw notKnown(text, "ends too early");
    if (token.startsWith("'")) return () => token.slice(1, -1).replaceAll("''", "'");
    if (/^-?\d/.test(token)) return () => Number(token);
    if (token === "true" || token === "false") return () => token === "true";
    if (token === "null") return () => null;
    if (!/^[A-Za-z_]/.test(token)) throw notKnown(text, `has an unexpected ${token}`);
    if (!take("(")) return () => valueOf(token);
    const args: Term[] = [];
    while (!take(")")) {
      args.push(either());
      if (!take(",") && next() !== ")") throw notKnown(text, "lacks a closing bracket");
    }
    return () =>
      call(
        token,
        args.map((arg) => arg()),
      );
  }
  function valueOf(name: string): ExpressionValue {
    const value = context.get(name);
    if (value !== undefined) return value;
    if (isAbsent(name, context)) return null;
    throw notKnown(text, `needs ${name}`);
  }
  function call(name: string, args: readonly ExpressionValue[]): ExpressionValue {
    const [a = "", b = ""] = args.map((arg) => String(arg ?? "").toLowerCase());
    switch (name) {
      case "format":
        return formatted(args.map((arg) => String(arg ?? "")));
      case "always":
      case "success":
        return true;
      case "failure":
      case "cancelled":
        return false;
      case "contains":
        return a.includes(b);
      case "startsWith":
        return a.startsWith(b);
      case "endsWith":
        return a.endsWith(b);
      default:
        throw notKnown(text, `calls ${name}()`);
    }
  }

  const term = either();
  if (at < tokens.length) throw notKnown(text, `has an unexpected ${tokens[at]}`);
  return term();
}

/**
 * Whether a name has no value in any run that a commit starts: GitHub then takes null. A value of the matrix that other
 * combinations have, or an input of a run that a person starts.
 */
function isAbsent(name: string, context: ExpressionContext): boolean {
  if (!/^(matrix|inputs|github\.event\.inputs)(\.[\w-]+)+$/.test(name)) return false;
  // GitHub does not distinguish upper and lower case in names, and `matrix.config` may be a map or a list.
  const wanted = name.toLowerCase();
  return ![...context.keys()].some((key) => `${key.toLowerCase()}.`.startsWith(`${wanted}.`));
}

/** Fills `{0}` and further places of a text, as GitHub's `format` does; `{{` is a brace. */
function formatted([text = "", ...values]: readonly string[]): string {
  return text.replace(/\{\{|\}\}|\{(\d+)\}/g, (found, place: string | undefined) =>
    place === undefined ? found.slice(1) : (values[Number(place)] ?? ""),
  );
}

/** Replaces each `${{ expression }}` of a text by its value. Throws as `evaluateExpression` does. */
export function fillExpressions(text: string, context: ExpressionContext): string {
  return text.replace(/\$\{\{([\s\S]*?)\}\}/g, (_, expression: string) =>
    String(evaluateExpression(expression, context) ?? ""),
  );
}

/** Whether the condition of a job or a step holds; its `${{ }}` may be left out. */
export function conditionHolds(condition: string, context: ExpressionContext): boolean {
  const bare = /^\s*\$\{\{([\s\S]*)\}\}\s*$/.exec(condition)?.[1] ?? condition;
  return truthy(evaluateExpression(bare, context));
}

function truthy(value: ExpressionValue): boolean {
  return value !== false && value !== null && value !== "" && value !== 0;
}

/**
 * Returns the value of the first term that decides; the last one's when none does. An unknown term matters only if no
 * term decides.
 */
function firstThat(
  terms: readonly (() => ExpressionValue)[],
  decides: (value: ExpressionValue) => boolean,
): ExpressionValue {
  let unknown: unknown;
  let last: ExpressionValue = null;
  for (const term of terms) {
    try {
      last = term();
      if (decides(last)) return last;
    } catch (reason) {
      unknown ??= reason;
    }
  }
  if (unknown !== undefined) throw unknown;
  return last;
}

function compare(operator: string, left: ExpressionValue, right: ExpressionValue): boolean {
  const isText = typeof left === "string" && typeof right === "string";
  const [a, b] = isText ? [left.toLowerCase(), right.toLowerCase()] : [Number(left), Number(right)];
  switch (operator) {
    case "==":
      return a === b;
    case "!=":
      return a !== b;
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    default:
      return a >= b;
  }
}

const token =
  /\s*('(?:[^']|'')*'|-?\d+(?:\.\d+)?|[A-Za-z_][\w-]*(?:\.[\w*-]+|\[[^\]]*\])*|&&|\|\||[=!<>]=|[!<>(),])\s*/y;

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  token.lastIndex = 0;
  if (text.length > 4_000) throw notKnown(text, "is too long");
  while (token.lastIndex < text.length) {
    const from = token.lastIndex;
    const match = token.exec(text)?.[1];
    if (match === undefined) {
      if (text.slice(from).trim() === "") break;
      throw notKnown(text, "cannot be read");
    }
    tokens.push(match);
  }
  return tokens;
}

function notKnown(text: string, why: string): Fault {
  return new Fault("unimplemented", `the expression \`${text.trim().slice(0, 100)}\` ${why}`);
}

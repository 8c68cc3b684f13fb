import { readFileSync } from "node:fs";
import { parseSync } from "vite";
import { childrenOf, type Node } from "../../../scripts/sentences/syntax-tree.ts";

/** A test as written in its file, without running it. */
export interface WrittenTest {
  /** The names of the `describe`s around it, from the outermost. */
  readonly groups: readonly string[];
  /**
   * As written: placeholders of tables (`$name`, `%s`) and of template texts (as `*`) are not
   * filled.
   */
  readonly title: string;
  readonly fullName: string;
  /**
   * Whether it, or a `describe` around it, is `.skip`, `.todo`, `.skipIf` or `.runIf`. The effect of `needs(…)` is
   * known only in a run.
   */
  readonly isSkipped: boolean;
  /**
   * Whether its body calls `expect`, `assert`, or a function with such a name, or a function of the same file that
   * does.
   */
  readonly asserts: boolean;
}

const skips = new Set(["skip", "todo", "skipIf", "runIf"]);
const assertingName = /^(?:expect|assert)/;

/** Reads a test file and lists its tests in order. */
export function testsInFile(path: string): WrittenTest[] {
  return testsInText(readFileSync(path, "utf8"));
}

export function testsInText(text: string): WrittenTest[] {
  const { program } = parseSync("test.ts", text, { lang: "ts" });
  const root = program as unknown as Node;
  const asserting = assertingFunctions(root);
  const tests: WrittenTest[] = [];
  visit(root, [], false);
  return tests;

  function visit(node: Node, groups: readonly string[], skipped: boolean): void {
    const call = testCall(node);
    if (call === undefined) {
      for (const child of childrenOf(node)) visit(child, groups, skipped);
      return;
    }
    const isSkipped = skipped || call.modifiers.some((each) => skips.has(each));
    if (call.kind === "describe") {
      for (const each of call.rest) visit(each, [...groups, call.title], isSkipped);
      return;
    }
    tests.push({
      groups,
      title: call.title,
      fullName: [...groups, call.title].join(" "),
      isSkipped,
      asserts: call.rest.some((each) => assertsIn(each, asserting)),
    });
  }
}

interface TestCall {
  readonly kind: "test" | "describe";
  readonly title: string;
  /** `skip`, `each`, …, in any order. */
  readonly modifiers: readonly string[];
  readonly rest: readonly Node[];
}

/** Reads `test("…", …)`, `describe.each([…])("…", …)` and their like. */
function testCall(node: Node): TestCall | undefined {
  if (node.type !== "CallExpression") return undefined;
  const [first, ...rest] = node["arguments"] as readonly Node[];
  const title = first === undefined || rest.length === 0 ? undefined : textOf(first);
  if (title === undefined) return undefined;
  const modifiers: string[] = [];
  let callee = node["callee"] as Node;
  while (callee.type !== "Identifier") {
    if (callee.type === "MemberExpression") {
      modifiers.push(String((callee["property"] as Node)["name"]));
      callee = callee["object"] as Node;
    } else if (callee.type === "CallExpression") callee = callee["callee"] as Node;
    else if (callee.type === "TaggedTemplateExpression") callee = callee["tag"] as Node;
    else return undefined;
  }
  const name = callee["name"];
  if (name === "describe") return { kind: "describe", title, modifiers, rest };
  return name === "test" || name === "it" ? { kind: "test", title, modifiers, rest } : undefined;
}

function textOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateLiteral") return undefined;
  const parts = node["quasis"] as readonly { readonly value: { readonly cooked: string } }[];
  return parts.map(({ value }) => value.cooked).join("*");
}

/** Returns the names of functions in the file that assert, directly or through one another. */
function assertingFunctions(root: Node): ReadonlySet<string> {
  const bodies = new Map<string, Node>();
  collect(root);
  const found = new Set<string>();
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [name, body] of bodies) if (assertsIn(body, found)) found.add(name);
  }
  return found;

  function collect(node: Node): void {
    const { id, init, body } = node as { id?: Node | null; init?: Node | null; body?: Node };
    const name = id?.type === "Identifier" ? String(id["name"]) : undefined;
    if (name !== undefined && node.type === "FunctionDeclaration" && body !== undefined)
      bodies.set(name, body);
    if (name !== undefined && /Function/.test(init?.type ?? "")) bodies.set(name, init as Node);
    for (const child of childrenOf(node)) collect(child);
  }
}

function assertsIn(node: Node, asserting: ReadonlySet<string>): boolean {
  if (node.type === "CallExpression") {
    const callee = node["callee"] as Node;
    // `expect(…)`, `expect.poll(…)`, `fc.assert(…)`, `expectGreen(…)`
    const { object, property } = callee as { object?: Node; property?: Node };
    const called = [callee, object, property].map((each) => String(each?.["name"]));
    if (called.some((name) => assertingName.test(name) || asserting.has(name))) return true;
  }
  // A function of the file that is passed as an argument is called by the receiver.
  if (node.type === "Identifier" && asserting.has(String(node["name"]))) return true;
  return childrenOf(node).some((child) => assertsIn(child, asserting));
}

/**
 * Finds the tests that a part of a name means: the test with exactly this name, the only test whose name contains it,
 * or all tests of the `describe`s whose names contain it. Returns none if it matches several others.
 */
export function testsMeant(tests: readonly WrittenTest[], part: string): readonly WrittenTest[] {
  const called = tests.filter(({ fullName }) => fullName === part);
  if (called.length === 1) return called;
  const fitting = tests.filter(({ fullName }) => fullName.includes(part));
  const grouped = fitting.every(({ groups }) => groups.join(" ").includes(part));
  return fitting.length === 1 || grouped ? fitting : [];
}

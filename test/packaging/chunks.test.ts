import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAst } from "vite";
import { expect, test } from "vitest";
import { checkout } from "./installed-package.ts";

/** A part of a syntax tree, as the parser gives it. */
interface Part {
  readonly type: string;
  readonly [key: string]: unknown;
}

test("no function of a chunk assigns to what the chunk exports, because imports are read once", async () => {
  const dist = join(checkout, "dist");
  const chunks = (await readdir(dist)).filter(
    (name) => name.endsWith(".cjs") && name !== "json-e.cjs",
  );
  const assigned: string[] = [];
  let exported = 0;

  for (const name of chunks) {
    const text = await readFile(join(dist, name), "utf8");
    const list = /module\.exports=\{([\w$\s:,]*)\};(?=[^;]*$)/.exec(text)?.[1] ?? "";
    const names = new Set(list.split(",").map((each) => (each.split(":")[1] ?? each).trim()));
    names.delete("");
    exported += names.size;
    // The chunk is one function; only assignments in functions inside it can be late.
    const found = lateAssignments(parseAst(text) as unknown as Part);
    assigned.push(...found.filter((each) => names.has(each)).map((each) => `${name}: ${each}`));
  }

  expect(assigned).toEqual([]);
  expect(exported).toBeGreaterThan(1_000);
});

/** Returns the names to which functions within the outermost function assign. */
function lateAssignments(program: Part): string[] {
  const found: string[] = [];
  const visit = (part: unknown, depth: number): void => {
    if (Array.isArray(part)) for (const each of part) visit(each, depth);
    if (!isPart(part)) return;
    if (depth > 1) found.push(...namesIn(targetOf(part)));
    const inside = /Function/.test(part.type) ? depth + 1 : depth;
    for (const value of Object.values(part)) visit(value, inside);
  };
  visit(program, 0);
  return found;
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && "type" in value;
}

function targetOf(part: Part): unknown {
  if (part.type === "AssignmentExpression") return part["left"];
  if (part.type === "UpdateExpression") return part["argument"];
  const isLoop = part.type === "ForOfStatement" || part.type === "ForInStatement";
  return isLoop ? part["left"] : undefined;
}

/** The names of a pattern; nothing of a declaration, which makes new ones, or of a member. */
function namesIn(target: unknown): string[] {
  if (Array.isArray(target)) return target.flatMap(namesIn);
  if (!isPart(target)) return [];
  switch (target.type) {
    case "Identifier":
      return [String(target["name"])];
    case "ArrayPattern":
      return namesIn(target["elements"]);
    case "ObjectPattern":
      return namesIn(target["properties"]);
    case "Property":
      return namesIn(target["value"]);
    case "AssignmentPattern":
      return namesIn(target["left"]);
    case "RestElement":
      return namesIn(target["argument"]);
    default:
      return [];
  }
}

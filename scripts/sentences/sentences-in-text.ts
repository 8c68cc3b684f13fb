import { parseSync } from "vite";
import { childrenOf, type Node } from "./syntax-tree.ts";

/** A text of the program that a person may read, as written in the source. */
interface WrittenSentence {
  /** The line where it starts, from 1. */
  readonly line: number;
  /** The text; a value that is put in while the program runs is written `{…}`. */
  readonly text: string;
}

const inserted = "{…}";

/** Attributes of elements whose text nobody reads. */
const silentAttributes = new Set(["className", "d", "viewBox", "style", "points", "transform"]);

/** Template literals with these tags are not texts for people. */
const silentTags = new Set(["sql", "css"]);

/**
 * Returns the texts of a TypeScript file that can be sentences: strings, template texts, strings joined by `+`, and
 * the text of elements together with the elements inside it.
 *
 * Texts with fewer than three words are labels and names: they are left out.
 */
export function sentencesInText(path: string, source: string): readonly WrittenSentence[] {
  const lang = path.endsWith("x") ? "tsx" : "ts";
  const { program } = parseSync(path, source, { lang });
  const found: WrittenSentence[] = [];
  visit(program as unknown as Node);
  return found;

  function visit(node: Node): void {
    if (isSilent(node)) return;
    const written = textOf(node);
    if (written === undefined) {
      for (const child of childrenOf(node)) visit(child);
      return;
    }
    const text = written.text.replace(/\s+/g, " ").trim();
    if (isSentence(text)) found.push({ line: lineAt(source, node.start), text });
    for (const rest of written.rest) visit(rest);
  }
}

interface Written {
  readonly text: string;
  /** Parts that are inserted into the text; they can contain further sentences. */
  readonly rest: readonly Node[];
}

/** Returns the text of a node, or undefined if the node is not a text itself. */
function textOf(node: Node): Written | undefined {
  switch (node.type) {
    case "Literal":
      return typeof node["value"] === "string" ? { text: node["value"], rest: [] } : undefined;
    case "TemplateLiteral":
      return templateText(node);
    case "BinaryExpression":
      return joinedText(node);
    case "JSXElement":
    case "JSXFragment":
      return elementText(node);
    default:
      return undefined;
  }
}

function templateText(node: Node): Written {
  const parts = node["quasis"] as readonly { readonly value: { readonly cooked: string } }[];
  const rest = node["expressions"] as readonly Node[];
  return { text: parts.map(({ value }) => value.cooked).join(inserted), rest };
}

/** Returns the text of `"…" + value + "…"`. */
function joinedText(node: Node): Written | undefined {
  if (node["operator"] !== "+") return undefined;
  const sides = [node["left"] as Node, node["right"] as Node];
  const texts = sides.map(textOf);
  if (texts.every((text) => text === undefined)) return undefined;
  return {
    text: texts.map((text) => text?.text ?? inserted).join(""),
    rest: sides.flatMap((side, index) => texts[index]?.rest ?? [side]),
  };
}

/** Returns the text of an element with text of its own, including the elements between its words. */
function elementText(node: Node): Written | undefined {
  const children = node["children"] as readonly Node[];
  const hasWords = children.some(
    (child) => child.type === "JSXText" && /\p{L}/u.test(String(child["value"])),
  );
  if (!hasWords) return undefined;
  const opening = node["openingElement"] as Node | undefined;
  const rest: Node[] = [...((opening?.["attributes"] as Node[] | undefined) ?? [])];
  const text = children.map(textOfChild).join("");
  return { text, rest };

  function textOfChild(child: Node): string {
    if (child.type === "JSXText")
      return String(child["value"])
        .replace(/\s*\n\s*/g, "\n")
        .replace(/^\n|\n$/g, "")
        .replaceAll("\n", " ");
    if (child.type === "JSXExpressionContainer") {
      const written = textOf(child["expression"] as Node);
      if (written === undefined) rest.push(child["expression"] as Node);
      else rest.push(...written.rest);
      return written?.text ?? inserted;
    }
    const written = textOf(child);
    if (written === undefined) rest.push(child);
    else rest.push(...written.rest);
    return written?.text ?? inserted;
  }
}

function isSilent(node: Node): boolean {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSTypeAliasDeclaration":
    case "TSInterfaceDeclaration":
    case "TSTypeAnnotation":
      return true;
    case "JSXAttribute":
      return silentAttributes.has(String((node["name"] as Node)["name"]));
    case "TaggedTemplateExpression":
      return silentTags.has(String((node["tag"] as Node)["name"]));
    default:
      return false;
  }
}

/** Returns whether a text has three words or more, at least two of them of lower-case letters, and is no SQL. */
function isSentence(text: string): boolean {
  const words = text.split(/\s+/).filter((word) => /\p{L}{2}|^[aI]$/u.test(word));
  const small = words.filter((word) => /^[("“‘'`]*\p{Ll}{2,}[)"”’'`.,:;?!]*$/u.test(word));
  return (
    words.length >= 3 &&
    small.length >= 2 &&
    !/^(?:select|insert into|update \S+ set|delete from|with \S+ as \(|create |alter |drop )/i.test(
      text,
    )
  );
}

function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split("\n").length;
}

import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { Item, mostItems } from "#definitions/chunk-keys.ts";

const Items = z.array(Item).min(1).max(mostItems);

/** Reads the items that another job has listed: a JSON list, or one item per line. Throws `failed_precondition`. */
export function readItems(text: string, from: string): string[] {
  const parsed = Items.safeParse(itemsIn(text, from));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Fault(
      "failed_precondition",
      `${from} is not a list of items: ${issue?.message ?? "it is empty"}`,
    );
  }
  // An item that is listed twice is processed once.
  return [...new Set(parsed.data)];
}

function itemsIn(text: string, from: string): unknown {
  if (!text.trimStart().startsWith("[")) {
    return text.split("\n").flatMap((line) => {
      const item = line.replace(/\r$/, "").trim();
      return item === "" ? [] : [item];
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault("failed_precondition", `${from} begins like a JSON list, but is not one`);
  }
}

import { z } from "zod";

/** Returns whether a text is the beginning of a graph's id, or `latest`: it then means the set of that graph. */
export function meansGraph(text: string): boolean {
  return text === "latest" || /^[0-9a-f]{4,8}$|^[0-9a-f]{8}-[0-9a-f-]*$/i.test(text);
}

/** A set of graphs: its given name, or any graph of it by its id, the beginning of its id or `latest`. */
export const SetReference = z
  .string()
  .max(128, "a set's name has at most 128 characters")
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@:+-]*$/,
    "a set's name begins with a letter or digit, and has letters, digits and ._@:+-",
  );

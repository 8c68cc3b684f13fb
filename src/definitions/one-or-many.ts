import { z } from "zod";

/** A list, or its only item; the parsed value is always a list. */
export const oneOrMany = <Item extends z.ZodType<string>>(item: Item, what: string) =>
  z
    .union([item.transform((one) => [one]), z.array(item).max(10_000)], {
      error: (issue) => messageOfBranch(issue) ?? `must be ${what}, or a list of them`,
    })
    .transform((items): string[] => [...items]);

/** For a union without a match, the message of the alternative with the same type. */
function messageOfBranch(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_union" || !("errors" in issue)) return undefined;
  const branches = issue.errors as z.core.$ZodIssue[][];
  const near = branches.find((found) =>
    found.every((one) => one.code !== "invalid_type" || one.path.length > 0),
  );
  return near?.[0]?.message;
}

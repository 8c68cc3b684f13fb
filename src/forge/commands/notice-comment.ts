import type { ForgeComment } from "../forge.ts";
import { defaultName, findCommand } from "./read-command.ts";

/** Whether a comment contains a command, and the line that contains it. */
type Noticed =
  | { readonly kind: "nothing" }
  | { readonly kind: "asks"; readonly line: string }
  /** It was changed after it was written: the answer explains that edits do not count. */
  | { readonly kind: "edited"; readonly line: string };

export function noticeComment(
  comment: Pick<ForgeComment, "body" | "isOurs" | "createdAt" | "updatedAt">,
  name = defaultName,
): Noticed {
  if (comment.isOurs) return { kind: "nothing" };
  const line = findCommand(comment.body, name);
  if (line === undefined) return { kind: "nothing" };
  const isEdited = comment.updatedAt.getTime() !== comment.createdAt.getTime();
  return { kind: isEdited ? "edited" : "asks", line };
}

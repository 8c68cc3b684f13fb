import { z } from "zod";

/** A check run as it is kept; times as text. */
const KeptCheck = z.object({
  sha: z.string(),
  name: z.string(),
  externalId: z.string(),
  detailsUrl: z.string(),
  state: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("queued") }),
    z.object({ kind: z.literal("in_progress"), startedAt: z.coerce.date() }),
    z.object({
      kind: z.literal("completed"),
      startedAt: z.coerce.date(),
      completedAt: z.coerce.date(),
      conclusion: z.enum(["success", "failure", "neutral", "cancelled", "action_required"]),
    }),
  ]),
  title: z.string(),
  summary: z.string(),
  annotations: z
    .array(
      z.object({
        path: z.string(),
        startLine: z.int(),
        endLine: z.int(),
        level: z.enum(["notice", "warning", "failure"]),
        message: z.string(),
      }),
    )
    .readonly(),
});

/** The content that a forge should show. Its key identifies the place. */
export const OutboxContent = z.discriminatedUnion("kind", [
  /** `comment/PULL`: the one comment of a pull request, edited in place. */
  z.object({ kind: z.literal("comment"), pull: z.int(), body: z.string() }),
  /** `check/SHA/NAME` */
  z.object({ kind: z.literal("check"), check: KeptCheck }),
  /** `reply/COMMENT`: the answer to a command. */
  z.object({
    kind: z.literal("reply"),
    pull: z.int(),
    body: z.string(),
    /** Minimised as soon as the pull request's comment exists or changes. */
    isUntilReport: z.boolean(),
  }),
  /** `reaction/COMMENT` */
  z.object({
    kind: z.literal("reaction"),
    pull: z.int(),
    comment: z.string(),
    reaction: z.enum(["+1", "-1", "confused", "eyes", "rocket"]),
  }),
  /** `label/PULL/NAME` */
  z.object({
    kind: z.literal("label"),
    pull: z.int(),
    name: z.string(),
    isThere: z.boolean(),
  }),
  /** `minimise/NODE` */
  z.object({ kind: z.literal("minimise"), pull: z.int(), node: z.string() }),
]);
export type OutboxContent = z.infer<typeof OutboxContent>;

/** Rows of one lane are sent in the order in which they were requested. */
export function laneOf(content: OutboxContent): string {
  return content.kind === "check" ? `sha/${content.check.sha}` : `pull/${content.pull}`;
}

/** Returns the key of a content's place. */
export function outboxKey(
  place:
    | { readonly kind: "comment"; readonly pull: number }
    | { readonly kind: "check"; readonly sha: string; readonly name: string }
    | { readonly kind: "reply" | "reaction"; readonly comment: string }
    | { readonly kind: "label"; readonly pull: number; readonly name: string }
    | { readonly kind: "minimise"; readonly node: string },
): string {
  switch (place.kind) {
    case "comment":
      return `comment/${place.pull}`;
    case "check":
      return `check/${place.sha}/${place.name}`;
    case "reply":
    case "reaction":
      return `${place.kind}/${place.comment}`;
    case "label":
      return `label/${place.pull}/${place.name}`;
    case "minimise":
      return `minimise/${place.node}`;
  }
}

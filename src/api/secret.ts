import { z } from "zod";
import { SecretName } from "#core/secret-reference.ts";

const Pattern = z.string().max(256, "a pattern has at most 256 characters");

/** A secret without its value. */
export const Secret = z
  .object({
    id: z.number(),
    name: z.string(),
    repository: z.string(),
    branch: z.string(),
    users: z.string().nullable(),
    version: z.number(),
    setAt: z.string(),
    setBy: z.string(),
  })
  .meta({ id: "Secret" });
export type Secret = z.infer<typeof Secret>;

const Place = {
  name: SecretName,
  repository: Pattern.min(1, "give the repositories; * stands for any characters"),
  /** Only the pattern `*` matches commits without a branch. */
  branch: Pattern.min(1, "give the branches; * stands for any characters"),
};

export const SetSecret = z
  .strictObject({
    ...Place,
    /** The principals whose own runs also get the secret on branches that are not protected. */
    users: Pattern.min(1).nullable().default(null),
    /** Base64: a value may be any bytes. */
    value: z.base64({ error: "the value must be in base64" }).max(64 * 1024),
  })
  .meta({ id: "SetSecret" });
export type SetSecret = z.infer<typeof SetSecret>;

export const RemoveSecret = z.strictObject(Place).meta({ id: "RemoveSecret" });
export type RemoveSecret = z.infer<typeof RemoveSecret>;

export const RemovedSecret = z.object({ removed: RemoveSecret }).meta({ id: "RemovedSecret" });

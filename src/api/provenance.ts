import { z } from "zod";
import { PublicKeyText } from "#core/public-key-text.ts";

/** The farm's statements about one digest: an envelope for each run that made it, the latest first. */
export const Provenance = z
  .object({
    digest: z.string(),
    /**
     * The key that verifies the signatures (Ed25519), as the farm states it. Compare it with a copy from another
     * source..
     */
    key: z.object({ id: z.string(), publicKey: PublicKeyText }),
    envelopes: z.array(
      z.object({
        payloadType: z.string(),
        payload: z.base64(),
        signatures: z.array(z.object({ keyid: z.string(), sig: z.base64() })).min(1),
      }),
    ),
  })
  .meta({ id: "Provenance" });
export type Provenance = z.infer<typeof Provenance>;

export const ProvenanceQuery = z.strictObject({
  /** SHA-256, alone or with the size: `<hash>/<size>`. */
  digest: z
    .string({ error: "name an output by its SHA-256: /provenance?digest=HASH" })
    .regex(/^[0-9a-f]{64}(\/\d{1,16})?$/, "name an output by its SHA-256: /provenance?digest=HASH"),
});

import { createPublicKey, verify } from "node:crypto";
import { z } from "zod";
import { Refusal } from "./routes/route.ts";

const Claims = z.object({
  iat: z.number().int(),
  exp: z.number().int(),
  iss: z.union([z.string(), z.number()]),
});

/** GitHub allows ten minutes; one more allows for differences between clocks. */
const longestSeconds = 600;
const leewaySeconds = 60;

/** Checks the signed token of an app, and refuses it with GitHub's messages. */
export function checkAppToken(token: string, publicKey: string, appId: number, now: Date): void {
  const undecodable = new Refusal(401, "A JSON web token could not be decoded");
  const [head = "", body = "", signature = ""] = token.split(".");
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${body}`),
    createPublicKey(publicKey),
    Buffer.from(signature, "base64url"),
  );
  if (!isSigned) throw undecodable;
  const part = (text: string): unknown => JSON.parse(Buffer.from(text, "base64url").toString());
  if ((part(head) as { alg?: unknown }).alg !== "RS256") throw undecodable;
  const { iat, exp, iss } = Claims.parse(part(body));
  const at = now.getTime() / 1_000;
  if (String(iss) !== String(appId)) throw new Refusal(404, "Integration not found");
  if (iat > at + leewaySeconds)
    throw new Refusal(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (exp <= at)
    throw new Refusal(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  if (exp > at + longestSeconds + leewaySeconds)
    throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future");
}

import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { enrolmentEndpoints } from "#api/endpoints/enrolment-endpoints.ts";
import type { EnrolledKind } from "#api/enrolment.ts";
import { backoffMs } from "#core/backoff.ts";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { apiClient } from "../api/api-client.ts";
import { jsonOr, ServerUnreachable } from "../api/api-failure.ts";
import { UsageError } from "../usage-error.ts";

/** The file with a machine's own token, which only its user can read. */
const Kept = z.object({
  server: z.string(),
  /** The enrolment of the token: with another one, the machine enrols again. */
  enrolment: z.string(),
  token: z.string(),
  /** Null until the farm has answered: the token is stored before it is sent. */
  principal: z.string().nullable(),
});
type Kept = z.infer<typeof Kept>;

/** A machine may start before its farm. */
const waitLimitMs = 60_000;

/**
 * Returns this machine's own token, from an earlier enrolment with this farm or from the given one.
 *
 * May be called repeatedly with the same enrolment, as a systemd unit does at every start: it is used once. Undefined
 * when there is neither.
 */
export async function ownToken(wanted: {
  readonly server: string;
  readonly ca?: string | undefined;
  /** An enrolment token, or a file that contains one. */
  readonly enrol?: string | undefined;
  readonly kind: z.infer<typeof EnrolledKind>;
  /** The file with the machine's token. */
  readonly file: string;
}): Promise<string | undefined> {
  const server = new URL(wanted.server).origin;
  const found = await keptIn(wanted.file);
  const kept = found?.server === server ? found : undefined;
  if (wanted.enrol === undefined) return isEnrolled(kept) ? kept.token : undefined;

  const enrolmentToken = await tokenOrFile(wanted.enrol);
  const enrolment = sha256(enrolmentToken).slice(0, 12);
  const ofThis = kept?.enrolment === enrolment ? kept : undefined;
  if (isEnrolled(ofThis)) return ofThis.token;

  // Created here, and on disk before it is sent to the farm: a lost answer is harmless, and the farm never sends a
  // token.
  const token = ofThis?.token ?? `grange_${randomBytes(32).toString("base64url")}`;
  const mine = { server, enrolment, token };
  await keep(wanted.file, { ...mine, principal: null });
  const api = apiClient(wanted.server, { token: undefined, ca: wanted.ca });
  const body = { enrolment: enrolmentToken, kind: wanted.kind, tokenHash: sha256(token) };
  const { principal } = await whileUnreachable(() => api.call(enrolmentEndpoints.enrol, { body }));
  await keep(wanted.file, { ...mine, principal });
  return token;
}

function isEnrolled(kept: Kept | undefined): kept is Kept & { readonly principal: string } {
  return kept !== undefined && kept.principal !== null;
}

async function whileUnreachable<T>(ask: () => Promise<T>): Promise<T> {
  const giveUp = Date.now() + waitLimitMs;
  for (let failures = 1; ; failures++) {
    try {
      return await ask();
    } catch (reason) {
      // Missing trust must be configured; waiting does not help.
      const isPassing =
        reason instanceof ServerUnreachable && !reason.message.includes("GRANGE_CA");
      if (!isPassing || Date.now() > giveUp) throw reason;
      await rest(backoffMs(failures, Math.random()));
    }
  }
}

async function keptIn(file: string): Promise<Kept | undefined> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return "";
    throw new Fault("failed_precondition", `cannot read this machine's token: ${cause.message}`, {
      cause,
    });
  });
  return Kept.safeParse(jsonOr(text, undefined)).data;
}

async function keep(file: string, kept: Kept): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const aside = `${file}.${randomUUID()}`;
  const handle = await open(aside, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(kept)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(aside, file);
}

async function tokenOrFile(written: string): Promise<string> {
  const isToken = (text: string) => /^grange_enrol_[A-Za-z0-9_-]{43}$/.test(text);
  if (isToken(written)) return written;
  const text = written.startsWith("grange_")
    ? undefined
    : await readFile(written, "utf8").catch(() => undefined);
  if (text !== undefined && isToken(text.trim())) return text.trim();
  throw new UsageError(
    "--enrol takes an enrolment token, or a file that contains one. It begins with grange_enrol_ and has 56 " +
      "characters; `grange token create NAME --enrol worker` prints one",
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { messageOf } from "#core/fault.ts";
import { PublicKeyText } from "#core/public-key-text.ts";
import { type Checked, checkProvenance } from "../check-provenance.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { readPublicKey } from "../keys/key-file.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";

interface ProvenanceOptions extends CommonOptions {
  readonly check?: boolean;
  readonly key?: string;
}

export const describeProvenance: Describe = (command) => {
  speaksToServer(
    command.argument("<output-or-digest>", "an output of a job: a file, or its SHA-256"),
  )
    .description("show the signed statement about an output: which run of which commit made it")
    .option("--check", "exit with 1 unless the signature is valid and matches this output")
    .option(
      "--key <public-or-file>",
      "check with this public key instead of the key that the farm sends",
    )
    .action((output: string, options: ProvenanceOptions) =>
      inSession(options, async (session) => {
        const { keyEndpoints } = await import("#api/endpoints/key-endpoints.ts");
        const hash = await hashOf(output);
        const provenance = await session.api.call(keyEndpoints.provenance, {
          query: { digest: hash },
        });
        const key =
          options.key === undefined ? provenance.key.publicKey : await readPublicKey(options.key);
        const bytes = Buffer.from(PublicKeyText.parse(key).slice("ed25519:".length), "base64url");
        const checked = checkProvenance(provenance, hash, bytes);
        const good = checked.filter(({ found }) => found.kind === "holds");
        const envelopes = (options.check === true ? good : checked).map(({ envelope }) => envelope);
        answer(session, options, { ...provenance, envelopes }, () => checked.flatMap(linesOf));
        if (options.check !== true || good.length > 0) return exitCodes.ok;
        session.terminal.notes.line("There is no valid signature for this output.");
        return exitCodes.failed;
      }),
    );
  withExamples(command, [
    ["show which run made a file", "provenance dist/app.tar"],
    [
      "in a release script: accept only files that the farm made",
      "provenance dist/app.tar --check --key farm.pub",
    ],
    ["print the signed envelopes, for other tools", "provenance dist/app.tar --json"],
  ]);
};

function linesOf({ found }: Checked): string[] {
  if (found.kind === "refused") return [`NOT VALID: ${found.problem}.`];
  const { statement } = found;
  const { externalParameters: said } = statement.predicate.buildDefinition;
  const { builder, metadata } = statement.predicate.runDetails;
  const line = (name: string, value: unknown) =>
    `  ${name.padEnd(9)} ${printableLine(String(value))}`;
  return [
    "Signed by the farm:",
    line("commit", `${said.commit} (${said.branch || "no branch"} of ${said.repository})`),
    line("run", metadata.invocationId),
    line("ended", metadata.finishedOn),
    line("builder", builder.id),
    ...statement.subject
      .slice(0, 20)
      .map(({ name, digest }) =>
        line("made", `${name} ${Object.values(digest)[0]?.slice(0, 16)}…`),
      ),
  ];
}

async function hashOf(output: string): Promise<string> {
  const digest = /^([0-9a-f]{64})(\/\d+)?$/.exec(output);
  if (digest?.[1] !== undefined) return digest[1];
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(output), hash);
  } catch (reason) {
    throw new UsageError(
      `${output} is not a digest, and cannot be read as a file: ${messageOf(reason)}`,
    );
  }
  return hash.digest("hex");
}

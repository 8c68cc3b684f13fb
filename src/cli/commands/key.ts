import type { Command } from "commander";
import type { Describe } from "../command-list.ts";
import { answersJson, speaksToServer, withExamples } from "../common-options.ts";
import { createKeyFile, readPublicKey } from "../keys/key-file.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";

interface CreateOptions extends CommonOptions {
  readonly out?: string;
}

export const describeKey: Describe = (command) => {
  describeCreate(command);
  describeTrust(command);
  describeList(command);
  describeRevoke(command);
  withExamples(command, [
    ["create a key on this machine", "key create release-2026"],
    ["trust its signatures", "key trust release-2026 ed25519:PUBLIC"],
    ["stop trusting the key, and all signatures of it", "key revoke release-2026"],
  ]);
};

function describeCreate(command: Command): void {
  answersJson(command.command("create <name>"))
    .description("create a signing key, and print its public key")
    .option("--out <file>", "the file of the private key (default: NAME.key)")
    .action((name: string, options: CreateOptions) =>
      inSession(options, async (session) => {
        const file = options.out ?? `${name}.key`;
        const publicKey = await createKeyFile(file);
        session.terminal.notes.line(
          `${file} contains the private key: keep it secret. The public key:`,
        );
        return answer(session, options, { name, file, publicKey }, () => [publicKey]);
      }),
    );
}

function describeTrust(command: Command): void {
  speaksToServer(command.command("trust <name> <public-or-file>"))
    .description("trust the signatures of a key")
    .action((name: string, textOrFile: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { keyEndpoints } = await import("#api/endpoints/key-endpoints.ts");
        const publicKey = await readPublicKey(textOrFile);
        const key = await session.api.call(keyEndpoints.trustKey, { body: { name, publicKey } });
        return answer(session, options, key, () => [`Key ${key.id} is trusted as ${key.name}.`]);
      }),
    );
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list trusted and revoked keys")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { keyEndpoints } = await import("#api/endpoints/key-endpoints.ts");
        const keys = await session.api.call(keyEndpoints.keys, {});
        return answer(session, options, keys, () =>
          tableLines([
            ["name", "id", "public", "trusted"],
            ...keys.map((key) => [
              key.name,
              key.id,
              key.publicKey,
              key.revokedAt === null
                ? `${timeText(key.trustedAt)} by ${key.trustedBy}`
                : `revoked ${timeText(key.revokedAt)} by ${key.revokedBy}`,
            ]),
          ]),
        );
      }),
    );
}

function describeRevoke(command: Command): void {
  speaksToServer(command.command("revoke <name>"))
    .description("stop trusting a key, and all signatures of it")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { keyEndpoints } = await import("#api/endpoints/key-endpoints.ts");
        const key = await session.api.call(keyEndpoints.revokeKey, { params: { name } });
        return answer(session, options, key, () => [`Key ${key.id} (${key.name}) is revoked.`]);
      }),
    );
}
